import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'
import { getProgram } from './programs.ts'
import { startProgram } from './start-program.ts'

const GUIDE = fileURLToPath(new URL('../../docs/operating/README.md', import.meta.url))

/** A pooler in front of a database, configured as in the documentation. */
type Pooler = {
  /** The URL of the database through the pooler. */
  readonly url: string
  stop(): Promise<void>
}

export async function startPgBouncer(databaseUrl: string): Promise<Pooler> {
  const documented = /^```ini\n(pool_mode[^`]*)^```$/m.exec(readFileSync(GUIDE, 'utf8'))?.[1]
  if (documented === undefined) throw new Error('the documentation says nothing about PgBouncer')
  const database = new URL(databaseUrl)
  const port = await freePort()
  const folder = mkdtempSync(path.join(tmpdir(), 'terse-pgbouncer-'))
  chmodSync(folder, 0o755)
  const file = path.join(folder, 'pgbouncer.ini')
  const { hostname, port: behind, username, password } = database
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${behind} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
${documented}`,
  )
  // It refuses to run as root; the set-up of the tests has created this user for PostgreSQL.
  const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : []
  const stop = await startProgram(getProgram('pgbouncer'), [...user, file], folder, async () => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
  })
  database.port = String(port)
  return {
    url: database.href,
    async stop() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
