import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type DnsResponder, NXDOMAIN, startDnsResponder } from '../support/dns-responder.ts'
import { createFolder, SQLITE } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { startProcess } from '../support/service-process.ts'
import { ROOT } from './read-examples.ts'

/** What a page needs besides a fresh instance. */
export type Setting = {
  readonly settings?: Readonly<Record<string, string>>
  /** Names in DNS, each with its address; others do not exist. Without it, DNS does not answer. */
  readonly addresses?: Readonly<Record<string, string>>
  /** Shell text that runs first: what the reader has, such as files of another service. */
  readonly prelude?: string
  /** Paths of the page, with the name in the folder of the test that stands for each. */
  readonly paths?: Readonly<Record<string, string>>
}

type Typed = {
  readonly output: string
  /** The first command that failed, for the reader of a failed test. */
  readonly failed: string | undefined
}

export type PageShell = {
  /** Pastes text, and returns what it printed. */
  type(text: string): Promise<Typed>
  close(): Promise<void>
}

/**
 * `npx terse` runs the program of this checkout. `npm start` shows what the service printed at its start; it runs from
 * the beginning of a page. curl fails on answers from 400 on, so that no refused request passes unnoticed.
 */
const COMMANDS = `
exec 2>&1
npx() {
  [ "$2" != serve ] || { echo 'the block with this command serves until it is stopped: mark it'; return 1; }
  shift; "$NODE" "$TERSE" "$@"
}
npm() { case "$*" in ci) ;; start) cat greeting.txt ;; *) return 1 ;; esac; }
curl() { command curl --silent --fail-with-body "$@"; }
set -E
trap ': "\${failed:=$BASH_COMMAND}"' ERR
typed() { failed=; . "$1" < /dev/null; printf '\\0%s\\0' "$failed"; }
`

/** Starts a fresh instance, and a shell in an empty folder of a person who reads a page about it. */
export async function openPageShell(setting: Setting = {}): Promise<PageShell> {
  const place = await SQLITE.createMigratedPlace()
  const port = await freePort()
  const dns = await startDns(setting.addresses)
  const settings = {
    TERSE_PORT: String(port),
    TERSE_BASE_URL: `http://localhost:${port}`,
    ...(dns === undefined ? {} : { TERSE_DNS_SERVERS: dns.address }),
    ...setting.settings,
  }
  const service = await startProcess(place, settings)
  const folder = createFolder()
  writeFileSync(path.join(folder, 'greeting.txt'), service.output().stdout)
  const child = spawn('bash', ['--norc', '--noprofile'], {
    cwd: folder,
    env: {
      ...INHERITED_ENV,
      ...place.env,
      ...settings,
      HOME: folder,
      TZ: 'UTC',
      NODE: process.execPath,
      TERSE: path.join(ROOT, 'bin/terse.js'),
      FIXTURES: path.join(ROOT, 'test/fixtures/imports'),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const parts = partsOf(child.stdout.setEncoding('utf8'))

  /** The service of the page is at a port of its own, and paths of the page are in the folder of the test. */
  const places = Object.entries({ 'localhost:3000': `localhost:${port}`, ...setting.paths })
  const toTest = (text: string) =>
    places.reduce((result, [shown, real]) => result.replaceAll(shown, real), text)
  const toPage = (text: string) =>
    places.reduce((result, [shown, real]) => result.replaceAll(real, shown), text)

  async function type(text: string): Promise<Typed> {
    const file = path.join(folder, '.typed')
    writeFileSync(file, toTest(text))
    child.stdin.write(`typed ${file}\n`)
    const output = await parts.next()
    const failed = await parts.next()
    if (failed.done) throw new Error(`the shell has ended: ${output.value ?? ''}`)
    return {
      output: toPage(output.value ?? '').replaceAll('\r', ''),
      failed: failed.value === '' ? undefined : failed.value,
    }
  }

  async function close(): Promise<void> {
    child.stdin.end()
    await ended
    await service.stop()
    await dns?.stop()
    await place.remove()
    rmSync(folder, { recursive: true })
  }

  child.stdin.write(COMMANDS)
  const { failed, output } = await type(setting.prelude ?? '')
  if (failed !== undefined) {
    await close()
    throw new Error(`the page's shell cannot be prepared: ${output}`)
  }
  return { type, close }
}

async function startDns(addresses: Setting['addresses']): Promise<DnsResponder | undefined> {
  if (addresses === undefined) return undefined
  return startDnsResponder(({ name, type }) => {
    const data = addresses[name.toLowerCase()]
    if (data === undefined) return { rcode: NXDOMAIN }
    return { answers: type === 'A' ? [{ name, type, ttl: 60, data }] : [] }
  })
}

/** Yields the parts of a stream that end with NUL. */
async function* partsOf(stream: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  let rest = ''
  for await (const chunk of stream) {
    const parts = (rest + chunk).split('\0')
    rest = parts.pop() ?? ''
    yield* parts
  }
}
