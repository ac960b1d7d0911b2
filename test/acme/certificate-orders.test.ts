import assert from 'node:assert/strict'
import { randomInt, X509Certificate } from 'node:crypto'
import { after, before, type TestContext, test } from 'node:test'
import type { FullStore } from '../../src/app/database/stores.ts'
import type { Certificate } from '../../src/certificates/certificate.ts'
import {
  AuthorityError,
  type CertificateAuthority,
} from '../../src/certificates/certificate-authority.ts'
import { chargeOrder } from '../../src/certificates/order-budgets.ts'
import { Failure } from '../../src/platform/failure.ts'
import { addDomain, addWorkspace, unique } from '../storage/samples.ts'
import { startChallengeServers } from '../support/challenge-servers.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { type OrderNodeOptions, orderNode, SERVICE_HOST } from '../support/order-node.ts'
import { type Pebble, type PebbleOptions, startPebble } from '../support/pebble.ts'
import { skipWithout } from '../support/programs.ts'
import { failStatements, WantedFault } from '../support/statement-faults.ts'
import { describeStore, type StoreUnderTest } from '../support/store.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const SECOND_MICROS = 1_000_000
/** Longer than the lease of an order. */
const AFTER_LEASE = 2 * MINUTE

/** Every nth statement of an order fails in one run; other runs start at another offset. */
const STRIDE = 12

const skip = skipWithout('pebble', 'knotd')
let dns: DnsServer
let pebble: Pebble
before(async () => {
  if (skip) return
  dns = await startDnsServer(['* A 127.0.0.1', '*.away A 127.0.0.2'])
  pebble = await startPebble({ dnsServer: dns.address, validitySeconds: 6 * DAY })
})
/** An authority for one test, with the challenge servers of the shared one. */
async function startOther(t: TestContext, options: Partial<PebbleOptions>): Promise<Pebble> {
  const { httpPort, tlsPort } = pebble
  const other = await startPebble({ dnsServer: dns.address, httpPort, tlsPort, ...options })
  t.after(() => other.stop())
  return other
}

after(async () => {
  await pebble?.stop()
  await dns?.stop()
})

/** A workspace with a node, a real authority, and servers that answer its challenges. */
async function setUp(at: StoreUnderTest, options: Partial<OrderNodeOptions> = {}) {
  await forgetAll(at)
  const clock = fakeClock(Date.now())
  const base = { store: at.store, clock, pebble, ...options }
  const node = (others: Partial<OrderNodeOptions> = {}) => orderNode({ ...base, ...others })
  const first = node()
  const workspace = await addWorkspace(at.store)
  const name = unique('d')
  const host = `go.${name}.test`
  const activate = async (...hosts: string[]) => {
    for (const each of hosts) {
      await addDomain(at.store, workspace.id, { host: each, status: 'active' })
    }
    await first.orders.reconcile(hosts)
  }
  return { ...first, clock, node, workspace, name, host, activate }
}

/** Removes pending work of the previous test. */
async function forgetAll({ db, store }: StoreUnderTest): Promise<void> {
  const orders = await db.selectFrom('certificate_orders').select('host').execute()
  const domains = await db.selectFrom('domains').select(['id', 'workspace_id']).execute()
  await store.write(async (stores) => {
    for (const { host } of orders) await stores.certificateOrders.remove(host)
    for (const { id, workspace_id } of domains) await stores.domains.delete(workspace_id, id)
    await stores.acmeAccounts.resume(pebble.directory)
    await stores.acmeBudgets.trim(Number.MAX_SAFE_INTEGER)
  })
}

async function eventsOf(store: FullStore, workspaceId: string) {
  return (await store.read.events.run({ workspaceId, limit: 10, beyond: undefined })).items
}

async function stateOf(store: FullStore, host: string) {
  const order = await store.read.certificateOrders.find(host)
  assert.ok(order, `${host} has no order`)
  return order
}

describeStore('the orders of certificates', (at) => {
  let stopServers = async () => {}
  before(async () => {
    if (skip) return
    const { answers } = orderNode({ store: at.store, clock: fakeClock(Date.now()), pebble })
    stopServers = (await startChallengeServers(answers, pebble)).stop
  })
  after(() => stopServers())

  test("turn an active domain into a certificate, with its key and the account's key encrypted", {
    skip,
  }, async () => {
    const { activate, host, runDue, log, certificates, orders, workspace } = await setUp(at)
    await activate(host)
    await runDue()
    assert.deepEqual(log, [`issued ${host}`])
    const [issued] = await eventsOf(at.store, workspace.id)
    assert.equal(issued?.type, 'certificate.issued')
    assert.equal(issued.after?.domain, host)
    assert.equal(issued.actor.name, 'certificate orders')
    const certificate = await certificates.find(host)
    assert.ok(certificate)
    const leaf = new X509Certificate(certificate.chainPem)
    assert.equal(leaf.checkHost(host, { subject: 'never' }), host)
    assert.equal(certificate.notAfter - certificate.notBefore, (6 * DAY - 1) * SECOND_MICROS)
    assert.equal(certificate.directory, pebble.directory)
    assert.match(certificate.ariId ?? '', /^[\w-]+\.[\w-]+$/)
    const chain = certificate.chainPem
      .split(/(?=-----BEGIN)/)
      .map((pem) => new X509Certificate(pem))
    assert.ok(chain[1] && leaf.verify(chain[1].publicKey))
    const root = new X509Certificate(await pebble.root())
    assert.ok(chain[1].verify(root.publicKey))

    for (const table of ['certificates', 'certificate_orders', 'acme_accounts'] as const) {
      const rows = JSON.stringify(await at.db.selectFrom(table).selectAll().execute())
      const secret: string = certificate.keyPem.split('\n')[1] ?? ''
      assert.ok(!rows.includes('PRIVATE') && !rows.includes(secret), `${table} shows a key`)
    }
    await orders.reconcileAll()
    assert.ok((await stateOf(at.store, SERVICE_HOST)).nextAt > 0, 'the service has one, too')
  })

  test('answer tls-alpn-01 when only that is offered', { skip }, async () => {
    const { activate, host, runDue, log } = await setUp(at, { challenges: 'tls-alpn-01' })
    await activate(host)
    await runDue()
    assert.deepEqual(log, [`issued ${host}`])
  })

  test('submit a challenge answer once, however long the authority takes', {
    skip,
  }, async () => {
    let begun = 0
    const { activate, host, runDue, log } = await setUp(at, {
      around: (authority) => ({
        ...authority,
        respondToChallenge: async (...args) => {
          begun += 1
          setTimeout(() => authority.respondToChallenge(...args), 150)
        },
      }),
    })
    await activate(host)
    await runDue()
    assert.deepEqual([log, begun], [[`issued ${host}`], 1])
  })

  test('detect that port 80 is unreachable, and skip http-01 for the next host', {
    skip,
  }, async (t) => {
    const elsewhere = await startOther(t, { httpPort: 9 })
    const { activate, host, name, runDue, log, clock } = await setUp(at, { pebble: elsewhere })
    await activate(host)
    await runDue()
    assert.equal(log.length, 1)
    assert.match(log[0] ?? '', /^failed .*connection/)
    clock.move(2 * MINUTE)
    await runDue()
    await activate(`next.${name}.test`)
    await runDue()
    assert.deepEqual(log.slice(1), [`issued ${host}`, `issued next.${name}.test`])
  })

  test('are placed once for each of 50 hosts, by two nodes, with half of the nonces rejected', {
    skip,
  }, async (t) => {
    const picky = await startOther(t, { nonceReject: 50 })
    const { activate, name, node, clock } = await setUp(at, { pebble: picky })
    const bothHaveLeases = Promise.withResolvers<void>()
    const around = (authority: CertificateAuthority) => waitFor(authority, bothHaveLeases.promise)
    const nodes = [node({ around }), node({ around, store: (await at.another()).store })]
    const hosts = Array.from({ length: 50 }, (_, index) => `go.${name}-${index}.test`)
    await activate(...hosts)
    clock.move(1)
    for (const each of nodes) await each.orders.startDue()
    bothHaveLeases.resolve()
    // On a busy machine a call may run out of time for further nonces: then the authority is left
    // alone for a while, and all orders continue.
    for (let pauses = 0; pauses < 5; pauses += 1) {
      await Promise.all(nodes.map((each) => each.runDue()))
      const account = await at.store.read.acmeAccounts.find(picky.directory)
      const pauseMicros = (account?.pausedUntil ?? 0) - clock.nowMicros()
      if (pauseMicros <= 0) break
      clock.move(pauseMicros / SECOND_MICROS)
    }
    const lines = nodes.flatMap(({ log }) => log)
    assert.deepEqual(
      lines.filter((line) => !/^away: .*nonce/.test(line)).toSorted(),
      hosts.map((host) => `issued ${host}`).toSorted(),
    )
    assert.equal(picky.orders(), 50)
    assert.ok(
      nodes.every(({ log }) => log.length > 0),
      'both nodes placed orders',
    )
    assert.match(picky.log(), /There are now 1 accounts/)
    assert.doesNotMatch(picky.log(), /There are now 2 accounts/)
  })

  const crashes = ['placeOrder', 'respondToChallenge', 'finalize', 'downloadCertificate'] as const
  for (const step of crashes) {
    test(`continue with the same order after a crash in ${step}, and reject the dead node’s late result`, {
      skip,
    }, async () => {
      const { clock, node, activate, host } = await setUp(at)
      const reached = Promise.withResolvers<void>()
      const crash = Promise.withResolvers<void>()
      const dying = node({
        around: (authority) => stopAfter(authority, step, reached.resolve, crash.promise),
      })
      await activate(host)
      const before = pebble.orders()
      await dying.orders.startDue()
      await reached.promise
      const survivor = node({ store: (await at.another()).store })
      await survivor.runDue()
      assert.deepEqual(survivor.log, [], 'the lease still holds')
      clock.move(AFTER_LEASE)
      await survivor.runDue()
      assert.deepEqual(survivor.log, [`issued ${host}`])
      // Between placing the order and storing its URL, no other node can know of the order.
      assert.equal(pebble.orders() - before, step === 'placeOrder' ? 2 : 1)
      const kept = await survivor.certificates.find(host)
      crash.resolve()
      await dying.orders.settled()
      assert.deepEqual(dying.log, [])
      assert.deepEqual(await survivor.certificates.find(host), kept)
    })
  }

  test('end in one certificate, with two orders at most, when any one statement fails', {
    skip,
  }, async () => {
    let orderedTwice = 0
    let cases = 0
    for (let failing = randomInt(1, STRIDE + 1), isOver = false; !isOver; failing += STRIDE) {
      const { activate, certificates, clock, host, node, runDue } = await setUp(at)
      await activate(host)
      const before = pebble.orders()
      const faults = failStatements((step) => step === failing)
      try {
        await runDue()
      } catch (error) {
        assert.ok(error instanceof WantedFault || error instanceof Failure, String(error))
      } finally {
        faults.mend()
      }
      isOver = faults.steps() < failing
      clock.move(AFTER_LEASE)
      const other = node({ store: isOver ? at.store : (await at.another()).store })
      await other.runDue()
      // When the authority's validation failed, the order is lost, and the next one waits some
      // minutes; the node does not know of the wait if that could not be stored either.
      for (let waits = 0; waits < 2 && (await certificates.find(host)) === undefined; waits += 1) {
        clock.move(((await stateOf(at.store, host)).nextAt - clock.nowMicros()) / SECOND_MICROS)
        await other.runDue()
      }
      assert.ok(await certificates.find(host), `none after step ${failing} failed`)
      const placed = pebble.orders() - before
      assert.ok(placed === 1 || placed === 2, `${placed} orders after step ${failing} failed`)
      orderedTwice += placed - 1
      cases += 1
    }
    assert.ok(cases > 5, `${cases} cases`)
    assert.ok(orderedTwice <= cases / 2, `${orderedTwice} of ${cases} ordered twice`)
  })

  test('wait while the authority is down, for any time, and record no failure for a host', {
    skip,
  }, async (t) => {
    const own = await startOther(t, {})
    const { activate, clock, name, runDue, log } = await setUp(at, { pebble: own })
    const [early, late] = [`early.${name}.test`, `late.${name}.test`]
    await activate(early)
    await runDue()
    await own.kill()
    await activate(late)
    const backAt = clock.nowMicros() + 6 * HOUR * SECOND_MICROS
    let attempts = 0
    while (clock.nowMicros() < backAt) {
      await runDue()
      attempts += 1
      const account = await at.store.read.acmeAccounts.find(own.directory)
      assert.ok(account && account.pausedUntil > clock.nowMicros())
      clock.move((account.pausedUntil - clock.nowMicros()) / SECOND_MICROS)
    }
    const away = log.filter((line) => line.startsWith('away'))
    // Orders that are due together report the same attempt, so the lines may be more than the attempts.
    assert.ok(attempts > 10 && attempts < 40, `${attempts} attempts`)
    assert.ok(away.length >= attempts, `${away.length} reports`)
    assert.match(away[0] ?? '', /localhost:\d+ did not answer: .*ECONNREFUSED/)
    assert.equal((await stateOf(at.store, late)).attempts, 0)

    // It comes back with an empty state: it knows neither the account nor any order.
    await own.start()
    for (let minutes = 0; minutes < 20 && log.at(-1) !== `issued ${late}`; minutes += 1) {
      clock.move(MINUTE)
      await runDue()
    }
    assert.equal(log.at(-1), `issued ${late}`)
    const account = await at.store.read.acmeAccounts.find(own.directory)
    assert.deepEqual([account?.failures, account?.failure], [0, null])
  })

  test("stay within the authority's limits when a host keeps failing", { skip }, async () => {
    const { activate, clock, name, runDue, log } = await setUp(at)
    const host = `${name}.away.test`
    await activate(host)
    const failures: number[] = []
    const begunAt = clock.nowMicros()
    for (let minute = 0; minute < 48 * 60; ) {
      const before = log.length
      await runDue()
      if (log.length > before) failures.push(minute)
      const { nextAt } = await stateOf(at.store, host)
      clock.move((nextAt - clock.nowMicros()) / SECOND_MICROS)
      minute = Math.round((clock.nowMicros() - begunAt) / MINUTE / SECOND_MICROS)
    }
    assert.ok(failures.length >= 10, 'it is retried')
    for (const first of failures) {
      const inHour = failures.filter((minute) => minute >= first && minute < first + 60)
      assert.ok(inHour.length <= 5, `${inHour.length} in the hour from minute ${first} on`)
    }
    assert.deepEqual(failures.slice(0, 2), [0, 1], 'and soon at first')
    const order = await stateOf(at.store, host)
    assert.match(order.failure ?? '', /Failed to connect|connection/)
    assert.equal(order.ongoing, null)
  })

  test('are retried on demand for a failed host, except where the authority asked for a delay', {
    skip,
  }, async () => {
    const { activate, clock, name, node } = await setUp(at)
    const [failing, limited] = [`${name}.away.test`, `limited.${name}.test`]
    const strict = node({
      around: (authority) => ({
        ...authority,
        placeOrder: (account, host, replaces) => {
          if (host === failing) return authority.placeOrder(account, host, replaces)
          throw new AuthorityError('rateLimited', 'rateLimited', { retryAfterMs: DAY * 1_000 })
        },
      }),
    })
    await activate(failing, limited)
    const runFor = async (seconds: number) => {
      clock.move(seconds)
      await strict.runDue()
    }
    await runFor(1)
    await runFor(MINUTE)
    await runFor(MINUTE)
    const log = strict.log.length
    await at.store.write(async (stores) => {
      for (const host of [failing, limited]) {
        await stores.certificateOrders.makeDue(host, clock.nowMicros())
      }
    })
    await strict.runDue()
    assert.equal(strict.log.length, log + 1)
    assert.match(strict.log.at(-1) ?? '', new RegExp(`^failed ${failing}`))
  })

  test('wait when the budget of a registered domain is spent, across restarts and nodes', {
    skip,
  }, async () => {
    const { activate, clock, host, name, node, runDue, log } = await setUp(at)
    await at.store.write(async (stores) => {
      for (let count = 0; count < 40; count += 1) {
        const order = { directory: pebble.directory, host: `${count}.${name}.test` } as const
        const purpose = 'first'
        await chargeOrder(stores, { ...order, purpose }, unique('w'), clock.nowMicros())
      }
    })
    await activate(host)
    const orders = pebble.orders()
    await runDue()
    clock.move(251 * MINUTE)
    const restarted = node({ store: (await at.another()).store })
    await restarted.runDue()
    assert.deepEqual([...log, ...restarted.log], [])
    assert.equal(pebble.orders(), orders)
    assert.match(
      (await stateOf(at.store, host)).failure ?? '',
      new RegExp(`ordered for ${name}.test`),
    )
    clock.move(MINUTE)
    await restarted.runDue()
    assert.deepEqual(restarted.log, [`issued ${host}`])
    assert.equal((await stateOf(at.store, host)).failure, null)
  })

  test('charge a first order to all budgets, and refund one that was not placed', {
    skip,
  }, async () => {
    const { activate, host, name, runDue } = await setUp(at)
    const budgets = async (domain: string) => {
      const rows = await at.db
        .selectFrom('acme_budgets')
        .selectAll()
        .where('subject', 'like', `%${domain}`)
        .execute()
      return rows.filter(({ subject }) => subject.startsWith('certificates'))
    }
    await activate(host)
    await runDue()
    assert.equal((await budgets(`${name}.test`)).length, 2)
    const failing = await setUp(at)
    const away = `${failing.name}.away.test`
    await failing.activate(away)
    await failing.runDue()
    const now = failing.clock.nowMicros()
    const left = (await budgets('away.test')).filter(({ spent_until }) => spent_until > now)
    assert.deepEqual(left, [])
  })

  test('are not placed where CAA records forbid it', { skip }, async () => {
    const {
      activate,
      host,
      runDue,
      log,
      workspace,
      dns: fake,
    } = await setUp(at, {
      around: (authority) => ({ ...authority, caaIdentities: async () => ['pebble.example'] }),
    })
    fake.setCaa(host, { tag: 'issue', value: 'other.example', isCritical: false })
    const orders = pebble.orders()
    await activate(host)
    await runDue()
    assert.deepEqual(log, [
      `failed ${host}: caa: the CAA records at ${host} allow certificates for ${host} only from other.example`,
    ])
    assert.equal(pebble.orders(), orders)
    const [failed] = await eventsOf(at.store, workspace.id)
    assert.equal(failed?.type, 'certificate.failed')
    assert.match(String(failed.after?.problem), /^caa: /)
  })

  test('delay one host for as long as the authority asks, and no other host', {
    skip,
  }, async () => {
    const { activate, clock, name, runDue, log } = await setUp(at, {
      around: (authority) => ({
        ...authority,
        placeOrder: async (account, host, replaces) => {
          if (!host.startsWith('limited.') || clock.nowMicros() > until) {
            return authority.placeOrder(account, host, replaces)
          }
          const retryAfterMs = 3 * HOUR * 1_000
          throw new AuthorityError('rateLimited', 'rateLimited: too many', { retryAfterMs })
        },
      }),
    })
    const until = clock.nowMicros() + HOUR * SECOND_MICROS
    await activate(`limited.${name}.test`, `other.${name}.test`)
    await runDue()
    clock.move(MINUTE)
    await runDue()
    assert.deepEqual(log.toSorted(), [
      `failed limited.${name}.test: rateLimited: too many`,
      `issued other.${name}.test`,
    ])
    clock.move(3 * HOUR - 2 * MINUTE)
    await runDue()
    assert.equal(log.length, 2)
    clock.move(2 * MINUTE)
    await runDue()
    assert.deepEqual(log.slice(2), [`issued limited.${name}.test`])
  })

  test('reject a certificate that cannot be parsed, or is for another key', { skip }, async () => {
    const { activate, certificates, clock, host, name, node } = await setUp(at)
    await activate(host)
    let chainPem: string | undefined = 'nonsense'
    const wrong = node({
      around: (authority) => ({
        ...authority,
        downloadCertificate: async (account, url) =>
          chainPem ?? authority.downloadCertificate(account, url),
      }),
    })
    await wrong.runDue()
    const foreign = node()
    await activate(`other.${name}.test`)
    await foreign.runDue()
    chainPem = (await certificates.find(`other.${name}.test`))?.chainPem
    clock.move(HOUR)
    await wrong.runDue()
    assert.equal(await certificates.find(host), undefined)
    assert.deepEqual(
      wrong.log.map((line) => line.replace(/^.* a certificate /, '')),
      ['that cannot be read', 'for another key'],
    )
  })

  /** Changes the age of a host's certificate. */
  async function age(
    node: Awaited<ReturnType<typeof setUp>>,
    seconds: number,
  ): Promise<Certificate> {
    const current = await node.certificates.find(node.host)
    assert.ok(current)
    const aged = {
      ...current,
      notBefore: current.notBefore - seconds * SECOND_MICROS,
      notAfter: current.notAfter - seconds * SECOND_MICROS,
    }
    await at.store.write((stores) => node.certificates.save(stores, aged))
    return aged
  }

  test('renew a six-day certificate when a third of its life is left, and serve the old one until then', {
    skip,
  }, async () => {
    const node = await setUp(at)
    const { activate, certificates, clock, host, runDue, log } = node
    await activate(host)
    await runDue()
    const old = await age(node, 3.7 * DAY)
    clock.move(HOUR)
    await runDue()
    assert.deepEqual(log, [`issued ${host}`])
    assert.equal((await certificates.find(host))?.chainPem, old.chainPem)
    const { nextAt } = await stateOf(at.store, host)
    const left = (old.notAfter - nextAt) / (old.notAfter - old.notBefore)
    assert.ok(left >= 1 / 3 && left < 0.37, `${left} of its life is left`)
    clock.move((nextAt - clock.nowMicros()) / SECOND_MICROS)
    await runDue()
    assert.deepEqual(log, [`issued ${host}`, `issued ${host}`])
    assert.ok(((await certificates.find(host))?.notAfter ?? 0) > old.notAfter)
  })

  test('renew within the window that the authority advises, and name the replaced certificate', {
    skip,
  }, async () => {
    const replaced: (string | undefined)[] = []
    const window = { start: 0, end: 0 }
    const node = await setUp(at, {
      around: (authority) => ({
        ...authority,
        findRenewalInfo: async () => ({ window: { ...window }, retryAfterMs: HOUR * 1_000 }),
        placeOrder: (account, host, replaces) => {
          replaced.push(replaces)
          return authority.placeOrder(account, host, replaces)
        },
      }),
    })
    const { activate, certificates, clock, host, runDue, log } = node
    window.start = clock.nowMicros() + 5 * HOUR * SECOND_MICROS
    window.end = clock.nowMicros() + 9 * HOUR * SECOND_MICROS
    await activate(host)
    await runDue()
    const old = await certificates.find(host)
    let renewedAfter = 0
    for (let hours = 1; hours <= 12 && renewedAfter === 0; hours += 1) {
      clock.move(HOUR)
      await runDue()
      if (log.length === 2) renewedAfter = hours
    }
    assert.ok(renewedAfter >= 5 && renewedAfter <= 10, `renewed after ${renewedAfter} hours`)
    assert.deepEqual(replaced, [undefined, old?.ariId])
  })

  test('renew at once when the authority advises it suddenly, and not in an endless loop', {
    skip,
  }, async () => {
    const node = await setUp(at, {
      around: (authority) => ({
        ...authority,
        findRenewalInfo: async () => ({
          window: { start: 1, end: 2 },
          retryAfterMs: MINUTE * 1_000,
        }),
      }),
    })
    const { activate, clock, host, runDue, log } = node
    await activate(host)
    await runDue()
    clock.move(HOUR)
    await runDue()
    assert.equal(log.length, 2, 'at the first look')
    const end = clock.nowMicros() + 12 * HOUR * SECOND_MICROS
    while (clock.nowMicros() < end) {
      await runDue()
      const { nextAt } = await stateOf(at.store, host)
      clock.move((nextAt - clock.nowMicros()) / SECOND_MICROS)
    }
    assert.deepEqual(new Set(log), new Set([`issued ${host}`]))
    assert.equal(log.length, 4, 'as many as a name may have in a week')
  })

  test('move to another authority when the setting changes, and serve the old certificate until then', {
    skip,
  }, async () => {
    const { activate, certificates, clock, host, runDue, log } = await setUp(at)
    await activate(host)
    await runDue()
    const current = await certificates.find(host)
    assert.ok(current)
    const before = { ...current, directory: 'https://old.example/directory' }
    await at.store.write((stores) => certificates.save(stores, before))
    clock.move(HOUR)
    await runDue()
    assert.deepEqual(log, [`issued ${host}`, `issued ${host}`])
    assert.equal((await certificates.find(host))?.directory, pebble.directory)
  })

  test('end with the domain: its certificate is deleted, and a running order is discarded', {
    skip,
  }, async () => {
    const { activate, certificates, host, node, orders, runDue, workspace } = await setUp(at)
    await activate(host)
    await runDue()
    assert.ok(await certificates.find(host))
    const claim = await at.store.read.domains.findActive(host)
    assert.ok(claim)
    await at.store.write((stores) => stores.domains.deactivate(claim.id, host, 1))
    await orders.reconcile([host])
    assert.equal(await certificates.find(host), undefined)
    assert.equal(await at.store.read.certificateOrders.find(host), undefined)

    const reached = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const slow = node({
      around: (authority) =>
        stopAfter(authority, 'downloadCertificate', reached.resolve, goOn.promise),
    })
    await at.store.write((stores) => stores.domains.activate(claim.id, host, 2))
    await orders.reconcile([host])
    await slow.orders.startDue()
    await reached.promise
    await at.store.write((stores) => stores.domains.delete(workspace.id, claim.id))
    goOn.resolve()
    await slow.orders.settled()
    await orders.reconcileAll()
    assert.equal(await certificates.find(host), undefined)
    assert.deepEqual(slow.log, [])
  })

  test('are placed only for hosts that a public authority accepts', { skip }, async () => {
    const { activate, orders, runDue, log } = await setUp(at, { serviceHost: 'localhost' })
    const host = `${unique('tour')}.localhost`
    await activate(host)
    await orders.reconcileAll()
    await runDue()
    assert.deepEqual(
      log.filter((line) => line.includes('localhost')),
      [],
    )
    assert.equal(await at.store.read.certificateOrders.find(host), undefined)
  })

  test('bind the account to an external account at the authority', { skip }, async (t) => {
    const hmacKey = Buffer.from('a key of thirty-two bytes or so.').toString('base64url')
    const bound = await startOther(t, { externalKeys: { mine: hmacKey } })
    const { activate, host, runDue, log, clock, node } = await setUp(at, { pebble: bound })
    await activate(host)
    await runDue()
    assert.match(log[0] ?? '', /^away: externalAccountRequired.*TERSE_ACME_EAB_KID/)
    clock.move(MINUTE)
    const wrong = node({ acme: { external: { kid: 'mine', hmacKey: 'd3Jvbmc' } } })
    await wrong.runDue()
    assert.match(wrong.log[0] ?? '', /^away: /)
    clock.move(HOUR)
    const right = node({ acme: { external: { kid: 'mine', hmacKey }, email: 'ops@example.com' } })
    await right.runDue()
    assert.deepEqual(right.log, [`issued ${host}`])
  })
})

/** An authority that registers no account and takes no order until `start`. */
function waitFor(authority: CertificateAuthority, start: Promise<void>): CertificateAuthority {
  return {
    ...authority,
    registerAccount: async (...args) => {
      await start
      return authority.registerAccount(...args)
    },
    placeOrder: async (...args) => {
      await start
      return authority.placeOrder(...args)
    },
  }
}

/** An authority that completes one step, and holds back its answer until `goOn`. */
function stopAfter(
  authority: CertificateAuthority,
  step: 'placeOrder' | 'respondToChallenge' | 'finalize' | 'downloadCertificate',
  onReached: () => void,
  goOn: Promise<void>,
): CertificateAuthority {
  const stop = async <T>(result: T): Promise<T> => {
    onReached()
    await goOn
    return result
  }
  return {
    ...authority,
    ...(step === 'placeOrder' && {
      placeOrder: async (...args) => stop(await authority.placeOrder(...args)),
    }),
    ...(step === 'respondToChallenge' && {
      respondToChallenge: async (...args) => stop(await authority.respondToChallenge(...args)),
    }),
    ...(step === 'finalize' && {
      finalize: async (...args) => stop(await authority.finalize(...args)),
    }),
    ...(step === 'downloadCertificate' && {
      downloadCertificate: async (...args) => stop(await authority.downloadCertificate(...args)),
    }),
  }
}
