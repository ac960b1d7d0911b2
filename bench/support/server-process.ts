import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/free-port.ts'
import { endWithThisProcess } from './children.ts'
import { onCores, SERVER_CORE } from './cores.ts'
import type { Answer, Question } from './probe.ts'

const WITH_PROBE = ['--import', fileURLToPath(new URL('./probe.ts', import.meta.url))]
const TERSE = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))

/** A server under measurement, in its own processes. */
export type MeasuredServer = {
  /** The pid of the first process; the others are its descendants. */
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
}

/** A server that runs on Node.js, and reports stalls of its event loop. */
export type ServerProcess = MeasuredServer & {
  /** When it was started, by `performance.now()`. */
  readonly startedMs: number
  /** Settles when it has reported that it is ready. */
  readonly ready: Promise<void>
  ask(question: Question): Promise<Answer>
}

/**
 * Starts a server on the servers' core.
 *
 * @param options.ready the text on its standard output when it is ready
 * @param options.nodeOptions for Node.js itself, such as `--cpu-prof`
 */
function spawnServer(options: {
  script: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  port: number
  ready: string
  nodeOptions: readonly string[]
  cores: readonly number[]
}): ServerProcess {
  const [file, args] = onCores(options.cores, process.execPath, [
    ...options.nodeOptions,
    ...[options.script, ...options.args],
  ])
  const startedMs = performance.now()
  const child = spawn(file, args, {
    env: { PATH: process.env.PATH, BENCH_PID: String(process.pid), ...options.env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  endWithThisProcess(child)
  const exited = once(child, 'exit')
  const ready = new Promise<void>((resolve, reject) => {
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
    ready,
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

export type TerseOptions = {
  readonly args?: readonly string[]
  readonly cores?: readonly number[]
  /** The program to run; this version's when left out. */
  readonly program?: string
}

/**
 * Starts `terse serve` as in production, but without rate limits.
 *
 * @param nodeOptions for Node.js itself, such as `--cpu-prof`
 * @param options.args of `serve`
 */
export async function startTerse(
  env: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
  options: TerseOptions = {},
): Promise<ServerProcess> {
  const server = await spawnTerse(env, [...WITH_PROBE, ...nodeOptions], options)
  await server.ready
  return server
}

/**
 * The same, without waiting until it is ready, and without the probe, which takes a while to load.
 */
export async function spawnTerse(
  env: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
  options: TerseOptions = {},
): Promise<ServerProcess> {
  const port = await freePort()
  return spawnServer({
    script: options.program ?? TERSE,
    args: ['serve', ...(options.args ?? [])],
    env: {
      TERSE_HOST: '127.0.0.1',
      TERSE_PORT: String(port),
      TERSE_BASE_URL: `http://localhost:${port}`,
      TERSE_RATE_LIMIT: '0',
      // Counted, but never reached.
      TERSE_CLICK_CAP_PER_MINUTE: '1000000',
      TERSE_RAW_CLICKS_PER_MINUTE: '0',
      TERSE_LOG_LEVEL: 'warn',
      // As the launcher starts it, which need not start another Node.js here.
      MALLOC_ARENA_MAX: '2',
      ...env,
    },
    port,
    ready: 'Terse is running',
    nodeOptions,
    cores: options.cores ?? [SERVER_CORE],
  })
}

/** Starts a server to compare the results with. Its first argument is its port. */
export async function startBaseline(
  script: URL,
  ...args: readonly string[]
): Promise<ServerProcess> {
  const port = await freePort()
  const server = spawnServer({
    script: fileURLToPath(script),
    args: [String(port), ...args],
    env: {},
    port,
    ready: 'ready',
    nodeOptions: WITH_PROBE,
    cores: [SERVER_CORE],
  })
  await server.ready
  return server
}
