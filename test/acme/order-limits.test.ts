import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthorityError } from '../../src/certificates/certificate-authority.ts'
import { chargeOrder } from '../../src/certificates/order-budgets.ts'
import { unique } from '../storage/samples.ts'

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

describeOrders('the limits of certificate orders', (at) => {
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
})
