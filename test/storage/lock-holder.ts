/**
 * A process that takes the write lock of a SQLite file, makes a change, prints `held`, and never
 * commits: it releases the lock on request, or when it is killed.
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
