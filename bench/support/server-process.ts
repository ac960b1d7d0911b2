import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/free-port.ts'
import type { Answer, Question } from './probe.ts'

const PROBE = fileURLToPath(new URL('./probe.ts', import.meta.url))
const TERSE = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** A server under measurement, in a process of its own. */
export type ServerProcess = {
  readonly port: number
  ask(question: Question): Promise<Answer>
  stop(): Promise<void>
}

/**
 * Starts a server and waits until it has said `ready` on its standard output.
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
}): Promise<ServerProcess> {
  const child = fork(options.script, options.args, {
    execArgv: ['--import', PROBE, ...options.nodeOptions],
    env: { PATH: process.env.PATH, ...options.env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
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

/** Starts `terse serve` as people run it, save that no rate limit is in the way. */
export async function startTerse(
  env: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
): Promise<ServerProcess> {
  const port = await freePort()
  return startServer({
    script: TERSE,
    args: ['serve'],
    env: {
      TERSE_HOST: '127.0.0.1',
      TERSE_PORT: String(port),
      TERSE_BASE_URL: `http://localhost:${port}`,
      TERSE_RATE_LIMIT: '0',
      ...env,
    },
    port,
    ready: 'Terse is running',
    nodeOptions,
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
  })
}
