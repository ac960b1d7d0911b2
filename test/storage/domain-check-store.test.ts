import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FullStore } from '../../src/app/database/stores.ts'
import { newSchedule } from '../../src/domains/check-schedule.ts'
import type { Domain } from '../../src/domains/domain.ts'
import { describeStore, type StoreUnderTest } from '../support/store.ts'
import { same } from './same.ts'
import { addDomain, addWorkspace, NOW } from './samples.ts'

const LEASE = 120_000_000
const MINUTE = 60_000_000
const WRITERS = 6
const ROUNDS = 5

describeStore('the schedule of domain checks', (at) => {
  const lease = async (store: FullStore, now: number, limit = 100) => {
    const owners = await store.read.domainChecks.findDueWorkspaces(0, now)
    const shares = new Map(owners.map((owner) => [owner, limit]))
    const { leases } = await store.write((stores) =>
      stores.domainChecks.leaseDue(shares, now, now + LEASE, limit),
    )
    return leases
  }
  const idsOf = (leases: Awaited<ReturnType<typeof lease>>) => leases.map(({ domain }) => domain.id)

  /** Creates claims whose checks are due in so many microseconds; no other check is due. */
  async function scheduled(...delays: number[]): Promise<Domain[]> {
    await clear(at)
    const workspace = await addWorkspace(at.store)
    const domains: Domain[] = []
    for (const delay of delays) {
      const domain = await addDomain(at.store, workspace.id)
      const schedule = { ...newSchedule(NOW), next_at: NOW + delay }
      await at.store.write((stores) => stores.domainChecks.insert(domain, schedule))
      domains.push(domain)
    }
    return domains
  }

  test('leases due checks, the oldest first, and none that is not due', async () => {
    const [later, first, second] = await scheduled(1, -9, -5)
    const leases = await lease(at.store, NOW)
    same(idsOf(leases), [first?.id, second?.id])
    same(leases[0]?.domain, first)
    same(leases[0]?.schedule, { ...newSchedule(NOW), next_at: NOW - 9 })
    same(await lease(at.store, NOW), [])
    same(idsOf(await lease(at.store, NOW + 1)), [later?.id])
  })

  test('leases each check to one of many nodes that ask at the same time', async () => {
    const nodes = [at.store, (await at.another()).store]
    for (let round = 0; round < ROUNDS; round += 1) await leaseAtOnce(nodes)
  })

  async function leaseAtOnce(nodes: readonly FullStore[]): Promise<void> {
    const domains = await scheduled(...Array.from({ length: 12 }, () => 0))
    const all = await Promise.all(
      Array.from({ length: WRITERS }, (_, index) => lease(nodes[index % 2] ?? at.store, NOW, 5)),
    )
    const leased = all.flatMap(idsOf)
    assert.equal(new Set(leased).size, leased.length, 'a check was leased twice')
    const rest = idsOf(await lease(at.store, NOW))
    same([...leased, ...rest].toSorted(), domains.map(({ id }) => id).toSorted())
  }

  test('leases a check that took its node down again, after growing waits', async () => {
    const [domain] = await scheduled(0)
    let now = NOW
    for (const minutes of [1, 2, 4]) {
      const [crashed] = await lease(at.store, now)
      assert.equal(crashed?.domain.id, domain?.id)
      now += LEASE + minutes * MINUTE
      same(await lease(at.store, now - 1), [])
    }
  })

  test('rejects the late result of a lost lease', async () => {
    const [domain] = await scheduled(0)
    const [slow] = await lease(at.store, NOW)
    assert.ok(domain && slow)
    const [quick] = await lease(at.store, NOW + LEASE + MINUTE)
    assert.ok(quick && quick.fence > slow.fence)
    const finish = (fence: number, next: number) =>
      at.store.write((stores) =>
        stores.domainChecks.finish({ domain, fence }, newSchedule(next), {
          at: NOW,
          verdict: 'unproved',
        }),
      )
    assert.equal(await finish(slow.fence, 1), false)
    assert.equal(await finish(quick.fence, NOW + 7), true)
    const times = await at.store.read.domainChecks.find(domain.id)
    same(times, { checked_at: NOW, next_at: NOW + 7, demanded_at: null, missing_since: null })
  })

  test('makes a running check void when it is rescheduled, requested, or its host becomes free', async () => {
    for (const supersede of [
      ({ id }: Domain) =>
        at.store.write((stores) => stores.domainChecks.restart(id, newSchedule(NOW))),
      ({ id }: Domain) => at.store.write((stores) => stores.domainChecks.lease(id, NOW + LEASE)),
      ({ host }: Domain) => at.store.write((stores) => stores.domainChecks.makeDue(host, NOW)),
    ]) {
      const [domain] = await scheduled(0)
      const [running] = await lease(at.store, NOW)
      assert.ok(domain && running)
      await supersede(domain)
      const isCounted = await at.store.write((stores) =>
        stores.domainChecks.finish(running, newSchedule(NOW), { at: NOW, verdict: 'proved' }),
      )
      assert.equal(isCounted, false)
    }
  })

  test('makes a returned lease available at once', async () => {
    const [domain] = await scheduled(0)
    const [running] = await lease(at.store, NOW)
    assert.ok(domain && running)
    await at.store.write((stores) => stores.domainChecks.release(running))
    same(idsOf(await lease(at.store, NOW)), [domain.id])
  })

  test('makes the pending claims on a host due, and no others', async () => {
    const [pending, active] = await scheduled(50, 50)
    assert.ok(pending && active)
    await at.store.write((stores) => stores.domains.activate(active.id, active.host, NOW))
    for (const { host } of [pending, active]) {
      await at.store.write((stores) => stores.domainChecks.makeDue(host, NOW))
    }
    same(idsOf(await lease(at.store, NOW)), [pending.id])
    await at.store.write((stores) => stores.domainChecks.makeDue(pending.host, NOW))
    same(idsOf(await lease(at.store, NOW)), [pending.id])
  })

  test('is deleted with its claim', async () => {
    const [domain] = await scheduled(0)
    assert.ok(domain)
    await at.store.write((stores) => stores.domains.delete(domain.workspace_id, domain.id))
    assert.equal(await at.store.read.domainChecks.find(domain.id), undefined)
    same(await at.store.read.domainChecks.findDueWorkspaces(0, NOW), [])
  })
})

/** Removes every check from the schedule. */
async function clear(at: StoreUnderTest): Promise<void> {
  const forever = Number.MAX_SAFE_INTEGER
  const owners = await at.store.read.domainChecks.findDueWorkspaces(0, forever)
  const { leases } = await at.store.write((stores) => {
    const shares = new Map(owners.map((owner) => [owner, 1_000]))
    return stores.domainChecks.leaseDue(shares, forever, forever, 1_000)
  })
  for (const { domain } of leases) {
    await at.store.write((stores) =>
      stores.domainChecks.restart(domain.id, { ...newSchedule(NOW), next_at: null }),
    )
  }
}
