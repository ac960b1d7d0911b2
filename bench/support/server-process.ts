import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/free-port.ts'
import { endWithThisProcess } from './children.ts'
import { onCores, SERVER_CORE } from './cores.ts'
import type { Answer, Question } from './probe.ts'

const PROBE = fileURLToPath(new URL('./probe.ts', import.meta.url))
const TERSE = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))

/** A server under measurement, in processes of its own. */
export type MeasuredServer = {
  /** Of the first process; the others are those that it started. */
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
}

/** One that runs on Node.js, and can be asked how its event loop does. */
export type ServerProcess = MeasuredServer & {
  /** When it was started, by `performance.now()`. */
  readonly startedMs: number
  ask(question: Question): Promise<Answer>
}

/**
 * Starts a server on the servers' core and waits until it has said `ready` on its standard output.
 *
 * @param options.nodeOptions for Node.js itself, such as `--cpu-prof`
 */
async function startServer(options: {
  script: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  port: number
  ready: string
  nodeOptions: readonly string[]
  cores: readonly number[]
}): Promise<ServerProcess> {
  const [file, args] = onCores(options.cores, process.execPath, [
    ...['--import', PROBE, ...options.nodeOptions],
    ...[options.script, ...options.args],
  ])
  const startedMs = performance.now()
  const child = spawn(file, args, {
    env: { PATH: process.env.PATH, BENCH_PID: String(process.pid), ...options.env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  endWithThisProcess(child)
  const exited = once(child, 'exit')
  await new Promise<void>((resolve, reject) => {
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.includes(options.ready)) resolve()
    })
    child.on('exit', (code) => reject(new Error(`${options.script} ended with ${code}`)))
  })
  return {
    pid: child.pid as number,
    startedMs,
    port: options.port,
    async ask(question) {
      const answered = once(child, 'message')
      child.send(question)
      const [answer] = await answered
      return answer
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/**
 * Starts `terse serve` as people run it, save that no rate limit is in the way.
 *
 * @param nodeOptions for Node.js itself, such as `--cpu-prof`
 * @param options.args of `serve`
 */
export async function startTerse(
  env: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
  options: { args?: readonly string[]; cores?: readonly number[] } = {},
): Promise<ServerProcess> {
  const port = await freePort()
  return startServer({
    script: TERSE,
    args: ['serve', ...(options.args ?? [])],
    env: {
      TERSE_HOST: '127.0.0.1',
      TERSE_PORT: String(port),
      TERSE_BASE_URL: `http://localhost:${port}`,
      TERSE_RATE_LIMIT: '0',
      TERSE_LOG_LEVEL: 'warn',
      ...env,
    },
    port,
    ready: 'Terse is running',
    nodeOptions,
    cores: options.cores ?? [SERVER_CORE],
  })
}

/** Starts a server that the results are compared with. It gets its port as its first argument. */
export async function startBaseline(
  script: URL,
  ...args: readonly string[]
): Promise<ServerProcess> {
  const port = await freePort()
  return startServer({
    script: fileURLToPath(script),
    args: [String(port), ...args],
    env: {},
    port,
    ready: 'ready',
    nodeOptions: [],
    cores: [SERVER_CORE],
  })
}
