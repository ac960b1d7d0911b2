import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import type { CertificateAuthority } from '../../src/certificates/certificate-authority.ts'
import { Failure } from '../../src/platform/failure.ts'
import { unique } from '../storage/samples.ts'
import { SERVICE_HOST } from '../support/order-node.ts'
import { random } from '../support/random.ts'
import { failStatements, WantedFault } from '../support/statement-faults.ts'

import {
  DAY,
  describeOrders,
  eventsOf,
  HOUR,
  MINUTE,
  pebble,
  SECOND_MICROS,
  setUp,
  skip,
  startOther,
  stateOf,
} from './order-bed.ts'

/** Longer than the lease of an order. */
const AFTER_LEASE = 2 * MINUTE

/** Every nth statement of an order fails in one run; other runs start at another offset. */
const STRIDE = 12

describeOrders('the orders of certificates', (at) => {
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
    for (
      let failing = 1 + Math.floor(random() * STRIDE), isOver = false;
      !isOver;
      failing += STRIDE
    ) {
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
