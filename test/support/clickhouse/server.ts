import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CLICKHOUSE_USER, createFolder } from '../engines.ts'
import { freePort } from '../free-port.ts'
import { installClickhouseEngine } from './engine.ts'

const FRONT = fileURLToPath(new URL('front.ts', import.meta.url))
/** How many statements run at a time. */
const THREADS = 16

/** A server of ClickHouse with data of its own. */
export type ClickhouseServer = {
  readonly port: number
  readonly password: string
  /** The value of `TERSE_CLICKS_URL` for a database, without the password. */
  url(database: string): string
  /** Executes a statement and returns what it prints, as tab separated values. */
  query(sql: string): Promise<string>
  start(): Promise<void>
  /** Ends it after the statements that it executes. */
  stop(): Promise<void>
  /** Ends it with SIGKILL. */
  crash(): Promise<void>
  /** Lets it answer nothing, with its connections open, until `resume`. */
  pause(): void
  resume(): void
  remove(): Promise<void>
}

/** Creates a server that is not started yet. Installs the engine if the machine does not have it. */
export async function createClickhouse(): Promise<ClickhouseServer> {
  const engine = installClickhouseEngine()
  const folder = createFolder()
  const port = await freePort()
  const password = randomBytes(12).toString('hex')
  let child: ChildProcess | undefined

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child
    child = undefined
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return
    ending.ref()
    const exited = once(ending, 'exit')
    ending.kill(signal)
    await exited
  }

  return {
    port,
    password,
    url: (database) => `clickhouse://${CLICKHOUSE_USER}@127.0.0.1:${port}/${database}`,

    async query(sql) {
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        body: sql,
        headers: { 'X-ClickHouse-User': CLICKHOUSE_USER, 'X-ClickHouse-Key': password },
      })
      const text = await response.text()
      if (!response.ok) throw new Error(text)
      return text
    },

    async start() {
      const started = fork(FRONT, [engine, folder, String(port)], {
        env: {
          ...process.env,
          UV_THREADPOOL_SIZE: String(THREADS),
          CLICKHOUSE_USER,
          CLICKHOUSE_PASSWORD: password,
        },
        execArgv: [],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      })
      child = started
      const exited = once(started, 'exit').then(([code, signal]) => {
        throw new Error(`ClickHouse ended before it was ready: ${code ?? signal}`)
      })
      await Promise.race([once(started, 'message'), exited])
      exited.catch(() => {})
      started.unref()
      started.channel?.unref()
    },

    stop: () => end('SIGTERM'),
    crash: () => end('SIGKILL'),

    pause() {
      child?.kill('SIGSTOP')
    },

    resume() {
      child?.kill('SIGCONT')
    },

    async remove() {
      await end('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
