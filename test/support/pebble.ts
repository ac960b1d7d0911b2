import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { selfSigned } from '../../src/certificates/acme/x509.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { getProgram } from './programs.ts'

const START_MS = 60_000

/** The Let's Encrypt project's own test authority, in its own process. */
export type Pebble = {
  /** As `TERSE_ACME_DIRECTORY` takes it. */
  readonly directory: string
  /** As `TERSE_ACME_CA_FILE` takes it: trusts the authority's own HTTPS. */
  readonly caFile: string
  /** The ports to which it sends its challenges. */
  readonly httpPort: number
  readonly tlsPort: number
  /** The root of its certificates, in PEM. It has another one after each start. */
  root(): Promise<string>
  /** The number of orders since it was started. */
  orders(): number
  log(): string
  /** Ends it, and loses its state, as a crash would. */
  kill(): Promise<void>
  /** Starts it again on the same ports. */
  start(): Promise<void>
  stop(): Promise<void>
}

export type PebbleOptions = {
  /** The DNS server that it queries, a `DnsServer`. */
  readonly dnsServer: string
  readonly httpPort?: number
  readonly tlsPort?: number
  /** The percentage of valid nonces that it rejects. */
  readonly nonceReject?: number
  readonly validitySeconds?: number
  /** Keys of external accounts by their names; when set, an account requires one. */
  readonly externalKeys?: Readonly<Record<string, string>>
}

export async function startPebble(options: PebbleOptions): Promise<Pebble> {
  const folder = mkdtempSync(path.join(tmpdir(), 'terse-pebble-'))
  const file = (name: string) => path.join(folder, name)
  const port = await freePort()
  const managementPort = await freePort()
  const httpPort = options.httpPort ?? (await freePort())
  const tlsPort = options.tlsPort ?? (await freePort())
  const own = selfSigned('localhost', Date.now())
  writeFileSync(file('cert.pem'), own.chainPem)
  writeFileSync(file('key.pem'), own.keyPem)
  const { validitySeconds, externalKeys } = options
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: file('cert.pem'),
    privateKey: file('key.pem'),
    httpPort,
    tlsPort,
    ocspResponderURL: '',
    externalAccountBindingRequired: externalKeys !== undefined,
    ...(externalKeys !== undefined && { externalAccountMACKeys: externalKeys }),
    ...(validitySeconds !== undefined && { certificateValidityPeriod: validitySeconds }),
  }
  writeFileSync(file('config.json'), JSON.stringify({ pebble }))
  const agent = new Agent({ ca: own.chainPem })

  let child: ChildProcess | undefined
  let log = ''

  async function read(at: number, name: string): Promise<string> {
    const request = get(`https://localhost:${at}/${name}`, { agent })
    const [response] = await once(request, 'response')
    assert.equal(response.statusCode, 200)
    return (await response.setEncoding('utf8').toArray()).join('')
  }

  async function start(): Promise<void> {
    log = ''
    const started = spawn(
      getProgram('pebble'),
      ['-config', file('config.json'), '-dnsserver', options.dnsServer],
      {
        env: {
          PEBBLE_VA_NOSLEEP: '1',
          PEBBLE_AUTHZREUSE: '0',
          PEBBLE_WFE_NONCEREJECT: String(options.nonceReject ?? 0),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    child = started
    for (const stream of [started.stdout, started.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        log += text
      })
    }
    try {
      await eventually(() => read(port, 'dir'), START_MS)
    } catch (error) {
      started.kill()
      throw new Error(`Pebble did not start:\n${log}`, { cause: error })
    }
  }

  async function kill(): Promise<void> {
    if (child === undefined) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    child = undefined
  }

  await start()
  return {
    directory: `https://localhost:${port}/dir`,
    caFile: file('cert.pem'),
    httpPort,
    tlsPort,
    root: () => read(managementPort, 'roots/0'),
    orders: () => log.match(/Added order /g)?.length ?? 0,
    log: () => log,
    kill,
    start,
    async stop() {
      await kill()
      agent.destroy()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The certificates to trust the authority's own HTTPS, in PEM. */
export function trustOf({ caFile }: Pebble): readonly string[] {
  return [readFileSync(caFile, 'utf8')]
}
