import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:https'
import { after, before, describe, type TestContext, test } from 'node:test'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { ENGINES, type Engine } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { type Pebble, pebbleMissing, startPebble } from '../support/pebble.ts'
import { runCli } from '../support/run-cli.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'

const skip = pebbleMissing()
const ISSUED_MS = 30_000

let dns: DnsServer
let pebble: Pebble
before(async () => {
  if (skip !== undefined) return
  dns = await startDnsServer(['* A 127.0.0.1'])
  pebble = await startPebble({ dnsServer: dns.address })
})
after(async () => {
  await pebble?.stop()
  await dns?.stop()
})

/** Asks over HTTPS, trusting the authority's root alone; the status and where it leads. */
async function visit(host: string, path: string, ca: string): Promise<readonly [number, string]> {
  const sent = request({
    host: '127.0.0.1',
    port: pebble.tlsPort,
    servername: host,
    path,
    headers: { host },
    agent: false,
    ca,
  }).end()
  const [response] = await once(sent, 'response')
  response.resume()
  return [response.statusCode, response.headers.location]
}

describe('terse serve with TERSE_TLS=auto', () => {
  for (const engine of ENGINES) {
    test(`gets certificates by itself on ${engine.name}`, { skip }, async (t) => {
      const { service, env } = await start(t, engine)
      const ca = await pebble.root()
      await run(env, 'workspace', 'create', 'acme')
      assert.ok(service.port > 0)
      await eventually(() => visit('service.test', '/', ca), ISSUED_MS)
    })
  }
})

async function start(t: TestContext, engine: Engine) {
  const place = await engine.createPlace()
  const env = {
    ...place.env,
    TERSE_BASE_URL: 'https://service.test',
    TERSE_TLS: 'auto',
    TERSE_PORT: String(pebble.httpPort),
    TERSE_HTTPS_PORT: String(pebble.tlsPort),
    TERSE_DNS_SERVERS: dns.address,
    TERSE_ACME_DIRECTORY: pebble.directory,
    TERSE_ACME_CA_FILE: pebble.caFile,
  }
  const service: ServiceProcess = await startProcess(place, env)
  t.after(async () => {
    await service.stop()
    await place.remove()
  })
  return { service, env, place }
}

async function run(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(args, env)
  assert.equal(code, 0, stderr)
  return stdout
}
