import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Certificate } from '../../src/certificates/certificate.ts'

import {
  DAY,
  describeOrders,
  HOUR,
  MINUTE,
  pebble,
  SECOND_MICROS,
  setUp,
  skip,
  stateOf,
} from './order-bed.ts'

describeOrders('the renewals of certificates', (at) => {
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
})
