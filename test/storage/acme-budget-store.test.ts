import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Budget } from '../../src/certificates/certificate-order.ts'
import { describeStore } from '../support/store.ts'
import { NOW, unique } from './samples.ts'

const CA = 'https://ca.example/directory'
const BUDGET: Budget = { burst: 4, refillMicros: 1_000 }

describeStore('budgets of certificate orders', (at) => {
  const charge = (subject: string, now: number, store = at.store) =>
    store.write((stores) => stores.acmeBudgets.charge(CA, subject, BUDGET, now))

  test('allow a burst, then one order per interval, and return how long to wait', async () => {
    const subject = unique('burst')
    for (let count = 0; count < 4; count += 1) assert.equal(await charge(subject, NOW), 0)
    assert.equal(await charge(subject, NOW), 1_000)
    assert.equal(await charge(subject, NOW + 400), 600)
    assert.equal(await charge(subject, NOW + 1_000), 0)
    assert.equal(await charge(subject, NOW + 1_000), 1_000)
    for (let count = 0; count < 4; count += 1) assert.equal(await charge(subject, NOW + 9_000), 0)
    assert.equal(await charge(subject, NOW + 9_000), 1_000, 'a bucket holds no more than it can')
  })

  test('return a refund, and keep authorities and subjects apart', async () => {
    const subject = unique('refund')
    for (let count = 0; count < 4; count += 1) await charge(subject, NOW)
    await at.store.write((stores) => stores.acmeBudgets.refund(CA, subject, BUDGET))
    assert.equal(await charge(subject, NOW), 0)
    assert.ok((await charge(subject, NOW)) > 0)
    assert.equal(await charge(unique('other'), NOW), 0)
    const elsewhere = at.store.write((stores) =>
      stores.acmeBudgets.charge('https://other.example/', subject, BUDGET, NOW),
    )
    assert.equal(await elsewhere, 0)
  })

  test('stay exact when several nodes spend at the same time', async () => {
    const subject = unique('rush')
    const stores = [at.store, (await at.another()).store, (await at.another()).store]
    const waits = await Promise.all(
      Array.from({ length: 60 }, (_, index) => charge(subject, NOW, stores[index % 3])),
    )
    assert.equal(waits.filter((wait) => wait === 0).length, 4)
  })

  test('recover soon after a node whose clock ran ahead has spent them', async () => {
    const subject = unique('ahead')
    for (let count = 0; count < 4; count += 1) await charge(subject, NOW + 86_400_000_000)
    assert.equal(await charge(subject, NOW), 0)
    assert.equal(await charge(subject, NOW), 1_000)
  })

  test('are deleted once they are full again, and not before', async () => {
    const subject = unique('trim')
    for (let count = 0; count < 4; count += 1) await charge(subject, NOW)
    const trim = (now: number) => at.store.write((stores) => stores.acmeBudgets.trim(now))
    await trim(NOW + 3_999)
    assert.equal(await charge(subject, NOW), 1_000)
    await trim(NOW + 4_000)
    const rows = await at.db.selectFrom('acme_budgets').selectAll().execute()
    assert.ok(!rows.some((row) => row.subject === subject))
  })
})
