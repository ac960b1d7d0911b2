import assert from 'node:assert/strict'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { certificatesOf } from '../../src/app/composition/domains.ts'
import { sqliteFile } from '../../src/storage/sqlite/data-files.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { ENGINES, type Place, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { freePort } from '../support/free-port.ts'
import { handshake, visitSecurely } from '../support/https.ts'
import { httpsSettings, openBeside, SERVICE_HOST } from '../support/https-node.ts'
import { type Pebble, type PebbleOptions, startPebble } from '../support/pebble.ts'
import { skipWithout } from '../support/programs.ts'
import { startService } from '../support/service.ts'
import { startProcess } from '../support/service-process.ts'

const skip = skipWithout('pebble', 'knotd')
const KILLER = new URL('../support/kill-at-statement.ts', import.meta.url).href
/** Fifty orders take a minute on a machine with a load of 25. */
const ISSUED_MS = 90_000
const HOUR = 60 * 60
const DAY = 24 * HOUR
const HOSTS = 50
const VISITORS = 3
/** Without it the visitors would take all processor time that the renewal needs. */
const VISIT_PAUSE_MS = 10
const SERVICE_LINES = ['go.service A 127.0.0.1']

let dns: DnsServer
before(async () => {
  if (!skip) dns = await startDnsServer(SERVICE_LINES)
})
after(() => dns?.stop())

async function startAuthority(t: TestContext, options: Partial<PebbleOptions> = {}) {
  const pebble = await startPebble({ dnsServer: dns.address, ...options })
  t.after(() => pebble.stop())
  return pebble
}

async function createPlace(t: TestContext, engine = SQLITE): Promise<Place> {
  const place = await engine.createMigratedPlace()
  t.after(() => place.remove())
  return place
}

async function start(t: TestContext, place: Place, settings: Record<string, string>) {
  const service = await startProcess(place, settings)
  t.after(() => service.stop())
  return service
}

/** Roots of authorities that run: each is read once, not before each visit. */
const roots = new WeakMap<Pebble, Promise<string>>()

function rootOf(pebble: Pebble): Promise<string> {
  const root = roots.get(pebble) ?? pebble.root()
  roots.set(pebble, root)
  return root
}

/** Expects that `host` answers a visitor who trusts only the authority's root. */
async function assertAnswers(pebble: Pebble, host: string, port = pebble.tlsPort): Promise<void> {
  const { status } = await visitSecurely(port, host, '/missing', { ca: await rootOf(pebble) })
  assert.equal(status, 404)
}

describe('a service that obtains its own certificates', () => {
  test(`brings ${HOSTS} domains from pending to HTTPS on two nodes, with half of the nonces rejected`, {
    skip,
  }, async (t) => {
    const pebble = await startAuthority(t, { nonceReject: 50 })
    const place = await createPlace(t, ENGINES[1])
    const settings = httpsSettings(pebble, dns)
    // The authority asks the first node for the challenges of both.
    const [otherPlain, otherTls] = [await freePort(), await freePort()]
    const other = { TERSE_PORT: String(otherPlain), TERSE_HTTPS_PORT: String(otherTls) }
    const nodes = [
      await start(t, place, settings),
      await start(t, place, { ...settings, ...other }),
    ]
    const beside = await openBeside(place, settings)
    t.after(() => beside.close())
    const hosts = Array.from({ length: HOSTS }, (_, index) => `links.acme${index}.test`)
    const lines: string[] = []
    for (const host of hosts) lines.push(...(await beside.claim(host)))
    await dns.serve([...SERVICE_LINES, ...lines])
    // As the next check would find it a minute later.
    await beside.instance.store.write(async (stores) => {
      for (const host of hosts) await stores.domainChecks.makeDue(host, 0)
    })
    // Their log costs less to look at than hosts without a certificate: each handshake takes both sides milliseconds.
    const issued = () =>
      nodes.flatMap(({ output }) => output().stderr.match(/certificate issued/g) ?? []).length
    const deadlineMs = performance.now() + ISSUED_MS
    await eventually(async () => assert.equal(issued(), HOSTS + 1), ISSUED_MS)
    for (const host of [...hosts, SERVICE_HOST]) {
      for (const port of [pebble.tlsPort, otherTls]) {
        await eventually(() => assertAnswers(pebble, host, port), deadlineMs - performance.now())
      }
    }
    assert.equal(pebble.orders(), HOSTS + 1)
    assert.equal(issued(), HOSTS + 1)
    for (const { output } of nodes) {
      assert.doesNotMatch(output().stderr, /PRIVATE KEY|"level":50/)
    }
  })

  test('stops serving a host when its proof has been missing for seven days', {
    skip,
  }, async (t) => {
    const pebble = await startAuthority(t)
    const clock = fakeClock(Date.now())
    const settings = httpsSettings(pebble, dns)
    const service = await startService(SQLITE, settings, { clock })
    t.after(() => service.stop())
    const beside = await openBeside(service.place, settings)
    t.after(() => beside.close())
    const host = 'links.leaving.test'
    const [address = '', proof = ''] = await beside.claim(host)
    await dns.serve([...SERVICE_LINES, address, proof])
    const move = (seconds: number) => clock.move(seconds)
    // A check may have run before the DNS server had the records; the next one follows a minute later.
    await eventually(() => {
      move(1)
      return assertAnswers(pebble, host)
    }, ISSUED_MS)
    await dns.serve([...SERVICE_LINES, address])
    const { store } = service.instance
    const claim = await store.read.domains.findActive(host)
    assert.ok(claim)
    const checkedAgain = async () => {
      const before = await store.read.domainChecks.find(claim.id)
      move(6 * HOUR)
      await eventually(async () => {
        const { checked_at } = (await store.read.domainChecks.find(claim.id)) ?? {}
        assert.notEqual(checked_at, before?.checked_at)
      })
    }
    await checkedAgain()
    await assertAnswers(pebble, host)
    move(7 * DAY)
    await checkedAgain()
    const ca = await rootOf(pebble)
    await eventually(() => assert.rejects(handshake(pebble.tlsPort, host, { ca })))
    assert.equal(await store.read.certificates.find(host), undefined)
    assert.equal(await store.read.certificateOrders.find(host), undefined)
  })

  test('renews under load without a failed handshake', { skip }, async (t) => {
    const pebble = await startAuthority(t)
    const place = await createPlace(t)
    const settings = httpsSettings(pebble, dns)
    await start(t, place, settings)
    await eventually(() => assertAnswers(pebble, SERVICE_HOST), ISSUED_MS)
    const { instance, close } = await openBeside(place, settings)
    t.after(close)
    const ca = await rootOf(pebble)
    const serial = async () => {
      const socket = await handshake(pebble.tlsPort, SERVICE_HOST, { ca })
      const shown = socket.getPeerX509Certificate()?.serialNumber
      socket.destroy()
      return shown
    }
    const faults: string[] = []
    let visits = 0
    let isOver = false
    const load = Array.from({ length: VISITORS }, async () => {
      while (!isOver) {
        try {
          await assertAnswers(pebble, SERVICE_HOST)
          visits += 1
        } catch (error) {
          faults.push(String(error))
        }
        await sleep(VISIT_PAUSE_MS)
      }
    })
    for (let renewal = 0; renewal < 2; renewal += 1) {
      const before = await serial()
      const current = await certificatesOf(instance).find(SERVICE_HOST)
      assert.ok(current)
      const now = instance.clock.nowMicros()
      // As if eighty of ninety days had passed.
      const life = { notBefore: now - 80 * DAY * 1e6, notAfter: now + 10 * DAY * 1e6 }
      await instance.store.write(async (stores) => {
        await certificatesOf(instance).save(stores, { ...current, ...life })
        await stores.certificateOrders.remove(SERVICE_HOST)
        const place = { workspaceId: '', queue: 'ready' } as const
        await stores.certificateOrders.add(SERVICE_HOST, place, now)
      })
      await eventually(async () => assert.notEqual(await serial(), before), ISSUED_MS)
    }
    await eventually(async () => assert.ok(visits + faults.length > 50), ISSUED_MS)
    isOver = true
    await Promise.all(load)
    assert.deepEqual(faults, [])
    assert.equal(pebble.orders(), 3)
  })

  // Each kill is just before the statement that would have been the next.
  const moments = [
    { moment: 'its order is placed', next: 'update "certificate_orders" set "challenge_type"' },
    { moment: 'its certificate is issued', next: 'insert into "certificates"' },
  ]
  for (const { moment, next } of moments) {
    test(`continues with the same order after kill -9 when ${moment}`, { skip }, async (t) => {
      const pebble = await startAuthority(t)
      const place = await createPlace(t)
      const settings = httpsSettings(pebble, dns)
      const beside = await openBeside(place, settings)
      t.after(() => beside.close())
      await killedAt(next, place, settings)
      const left = readOrder(place)
      assert.ok(left?.order_url && left.private_key, 'the order and its key are kept')
      assert.equal(await beside.instance.store.read.certificates.find(SERVICE_HOST), undefined)
      // As if the lease of the dead process had ended.
      await beside.instance.store.write((stores) =>
        stores.certificateOrders.extend(SERVICE_HOST, left.fence, 0),
      )
      await start(t, place, settings)
      await eventually(() => assertAnswers(pebble, SERVICE_HOST), ISSUED_MS)
      assert.equal(pebble.orders(), 1)
    })
  }
})

/**
 * Starts a service that dies before it runs a given statement, possibly before it has reported that
 * it runs.
 */
async function killedAt(
  statement: string,
  place: Place,
  settings: Record<string, string>,
): Promise<void> {
  const dying = { ...settings, NODE_OPTIONS: `--import=${KILLER}`, KILL_AT: statement }
  const started = await startProcess(place, dying).catch(() => undefined)
  if (started === undefined) return
  const { child } = started
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  assert.equal(child.signalCode, 'SIGKILL')
}

type OrderRow = {
  readonly order_url: string | null
  readonly private_key: string | null
  readonly fence: number
}

/** The stored order of the service's own host, read from the database file. */
function readOrder({ dataDir }: Place): OrderRow | undefined {
  const database = new DatabaseSync(sqliteFile(dataDir), { readOnly: true })
  try {
    const row = database
      .prepare('select * from certificate_orders where host = ?')
      .get(SERVICE_HOST)
    return (
      row && {
        order_url: textOf(row.order_url),
        private_key: textOf(row.private_key),
        fence: Number(row.fence),
      }
    )
  } finally {
    database.close()
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
