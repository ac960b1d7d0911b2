import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Place } from './engines.ts'
import { freePort } from './free-port.ts'
import { INHERITED_ENV } from './inherited-env.ts'
import { NO_ACME } from './no-acme.ts'
import { NO_DNS } from './no-dns.ts'
import type { OrdinaryUser } from './ordinary-user.ts'

const MAIN = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))

/** The service in its own process, as it runs in production. */
export type ServiceProcess = {
  readonly port: number
  readonly child: ChildProcess
  /** Everything it has printed so far. */
  output(): { stdout: string; stderr: string }
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>
  /** Sends SIGTERM, and returns the exit code once it has ended and its output is complete. */
  stop(): Promise<number | null>
}

/**
 * Starts `terse serve` and waits until it prints that it is running.
 * @param options.within a command that runs it: the command line of Terse is appended
 * @param options.user the user of the process; by default the user of the tests
 * @param options.program the file that starts Terse; by default the one of the checkout
 */
export async function startProcess(
  place: Place,
  settings: Readonly<Record<string, string>> = {},
  options: {
    readonly args?: readonly string[]
    readonly within?: readonly string[]
    readonly user?: OrdinaryUser
    readonly program?: string
  } = {},
): Promise<ServiceProcess> {
  const { args = [], within = [], user = {}, program = MAIN } = options
  const port = Number(settings.TERSE_PORT ?? (await freePort()))
  const [command, ...words] = [...within, process.execPath, program, 'serve', ...args]
  const child = spawn(command as string, words, {
    env: {
      ...INHERITED_ENV,
      TERSE_PORT: String(port),
      TERSE_HOST: '127.0.0.1',
      TERSE_BASE_URL: `http://localhost:${port}`,
      TERSE_RATE_LIMIT: '0',
      TERSE_CLICK_CAP_PER_MINUTE: '0',
      TERSE_RAW_CLICKS_PER_MINUTE: '0',
      TERSE_DNS_SERVERS: NO_DNS,
      TERSE_ACME_DIRECTORY: NO_ACME,
      ...place.env,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  })
  let stdout = ''
  let stderr = ''
  const exited = once(child, 'exit')
  // Only then has everything that it printed been read.
  const closed = once(child, 'close')
  const running = new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      if (stdout.includes('Terse is running')) resolve()
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.on('close', (code) => reject(new Error(`terse serve ended with ${code}:\n${stderr}`)))
  })
  await running
  return {
    port,
    child,
    output: () => ({ stdout, stderr }),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async stop() {
      child.kill('SIGTERM')
      const [code] = await closed
      return code
    },
  }
}
