import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test } from 'node:test'
import type { FullStore } from '../../src/app/database/stores.ts'
import { insertClaim } from '../../src/domains/claim.ts'
import { DomainChecks, LOOKUP_QUEUE } from '../../src/domains/domain-checks.ts'
import { commandLine } from '../../src/identity/actor.ts'
import type { DnsAnswer, DnsResolver } from '../../src/platform/dns/dns-resolver.ts'
import { FairQueue, QueueRefusal } from '../../src/platform/work/fair-queue.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { fakeDns } from '../support/fake-dns.ts'
import { describeStore } from '../support/store.ts'
import { addWorkspace, newDomain, unique } from './samples.ts'

const TARGET = 'service.test'
const OURS = '192.0.2.10'
/** How many checks a node runs at a time: per workspace, and in total. */
const OF_WORKSPACE = 8
const OF_ALL = 32
const SILENT: DnsAnswer<never> = { kind: 'unknown', reason: 'timeout' }

describeStore('domain checks of several workspaces', (at) => {
  /** Starts nodes over a fake DNS in which names that begin with "silent" time out. */
  async function setUp() {
    await at.db.deleteFrom('domain_checks').execute()
    const clock = fakeClock(Date.now())
    const dns = fakeDns()
    dns.set(TARGET, 'A', OURS)
    const asked: string[] = []
    const timeouts: (() => void)[] = []
    const resolver: DnsResolver = {
      ...dns,
      ipv4(name) {
        asked.push(name)
        if (!name.startsWith('silent')) return dns.ipv4(name)
        return new Promise((resolve) => timeouts.push(() => resolve(SILENT)))
      },
    }
    const ends = new EventEmitter()
    const node = (store: FullStore = at.store) =>
      new DomainChecks({
        lookups: new FairQueue(LOOKUP_QUEUE),
        store,
        clock,
        resolver,
        onError: assert.ifError,
        policy: 'routing',
        proofKey: Buffer.alloc(32, 7),
        target: { host: TARGET, addresses: [] },
        isReserved: () => false,
        onMove: () => {},
        onSlotFree: () => ends.emit('end'),
        findCertificate: undefined,
      })
    /** Creates claims of a new workspace, all at the same time. */
    async function claim(...prefixes: string[]) {
      const { id: workspaceId } = await addWorkspace(at.store)
      const created_at = clock.nowMicros()
      const claims = prefixes.map((prefix) =>
        newDomain(workspaceId, { host: `${unique(prefix)}.test`, created_at }),
      )
      await at.store.write(async (stores) => {
        for (const each of claims) await insertClaim(stores, commandLine(workspaceId), each)
      })
      const statusOf = async (index: number) =>
        (await at.store.read.domains.findById(workspaceId, claims[index]?.id ?? ''))?.status
      return { workspaceId, claims, statusOf }
    }
    /** Settles when the next check has ended. */
    const nextEnd = () => once(ends, 'end')
    const end = () => {
      for (const timeout of timeouts.splice(0)) timeout()
    }
    return { clock, dns, node, claim, asked, timeouts, nextEnd, end }
  }
  const many = (count: number, prefix = 'silent') => Array.from({ length: count }, () => prefix)

  test("activate one workspace’s domain while hundreds of another's names do not answer", async () => {
    const { dns, node, claim, asked, nextEnd, end } = await setUp()
    await claim(...many(400))
    const checks = node()
    await checks.startDue()
    assert.equal(silent(asked), OF_WORKSPACE)
    const { claims, statusOf } = await claim('go')
    const [mine] = claims
    assert.ok(mine)
    dns.set(mine.host, 'A', OURS)
    const ended = nextEnd()
    await checks.startDue()
    await ended
    assert.equal(await statusOf(0), 'active', 'in the first round of leases')
    assert.equal(silent(asked), OF_WORKSPACE)
    checks.cancel()
    end()
    await checks.settled()
  })

  test('give each workspace its turn when silent names occupy all slots of a node', async () => {
    const { dns, node, claim, asked, timeouts, nextEnd, end } = await setUp()
    const hostile = 5
    for (let count = 0; count < hostile; count += 1) await claim(...many(20))
    const checks = node()
    await checks.startDue()
    assert.equal(silent(asked), OF_ALL)
    const { claims } = await claim('go')
    const [mine] = claims
    assert.ok(mine)
    dns.set(mine.host, 'A', OURS)
    let rounds = 0
    while (!asked.includes(mine.host)) {
      rounds += 1
      const ended = nextEnd()
      timeouts.shift()?.()
      await ended
      await checks.startDue()
    }
    assert.ok(rounds <= hostile + 1, `${rounds - 1} checks of others had their turn before`)
    checks.cancel()
    end()
    await checks.settled()
  })

  test('lease one check of each workspace in turn, on every node', async () => {
    const { node, claim, asked, end } = await setUp()
    const greedy = await claim(...many(60))
    const modest = [await claim('silent'), await claim('silent')]
    const nodes = [node(), node((await at.another()).store)]
    for (const checks of nodes) await checks.startDue()
    for (const { claims } of modest) assert.ok(asked.includes(claims[0]?.host ?? ''))
    const ofGreedy = greedy.claims.filter(({ host }) => asked.includes(host))
    assert.equal(ofGreedy.length, nodes.length * OF_WORKSPACE)
    const names = asked.filter((name) => name !== TARGET)
    assert.equal(new Set(names).size, names.length, 'each by one node')
    for (const checks of nodes) checks.cancel()
    end()
    for (const checks of nodes) await checks.settled()
  })

  test("run a check on demand while another workspace's queue is full, and refuse more of that workspace", async () => {
    const { node, claim, dns, end } = await setUp()
    const greedy = await claim(...many(21))
    const other = await claim('go')
    const checks = node()
    const looks = greedy.claims.map(({ workspace_id, id }) =>
      checks.report(commandLine(workspace_id), id),
    )
    // No name of theirs answers before `end`, so the first look that settles is the one that found the queue full.
    await assert.rejects(
      Promise.race(looks),
      (error) => error instanceof QueueRefusal && error.reason === 'owner_full',
    )
    const [mine] = other.claims
    assert.ok(mine)
    dns.set(mine.host, 'A', OURS)
    const report = await checks.report(commandLine(other.workspaceId), mine.id)
    assert.equal(report.verdict, 'proved')
    const ending = setInterval(end, 5)
    const outcomes = await Promise.allSettled(looks)
    clearInterval(ending)
    assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 1)
  })
})

function silent(names: readonly string[]): number {
  return names.filter((name) => name.startsWith('silent')).length
}
