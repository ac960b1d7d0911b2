/**
 * A process that takes the write lock of a SQLite file, changes something, says `held`, and never
 * commits: it lets go when it is told to, or when it is killed.
 */
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'

const database = new DatabaseSync(process.argv[2] ?? '', { timeout: 5_000 })
database.exec(
  "begin immediate; create table if not exists held (x); insert into held values ('uncommitted')",
)
process.stdout.write('held\n')
await once(process.stdin, 'data')
database.exec('rollback')
database.close()
process.exit()
