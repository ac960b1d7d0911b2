import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pendingFrom } from '../../src/domains/check-schedule.ts'
import { type ProofPolicy, proofName, proofText } from '../../src/domains/dns-records.ts'
import type { CertificateStanding } from '../../src/domains/domain.ts'
import { DomainChecks, type DomainMove, LOOKUP_QUEUE } from '../../src/domains/domain-checks.ts'
import { Domains } from '../../src/domains/domains.ts'
import { claimableHosts } from '../../src/hosts/claimable-hosts.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import type { DnsResolver } from '../../src/platform/dns/dns-resolver.ts'
import { Failure } from '../../src/platform/failure.ts'
import { FairQueue } from '../../src/platform/work/fair-queue.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { type FakeDns, fakeDns } from '../support/fake-dns.ts'
import { noQuotas } from '../support/no-quotas.ts'
import { describeStore, type StoreUnderTest } from '../support/store.ts'
import { addWorkspace, unique } from './samples.ts'

const KEY = Buffer.alloc(32, 7)
const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const TARGET = 'service.test'
const OURS = '192.0.2.10'
const THEIRS = '198.51.100.1'

/** The rules over a real store, with a fake clock and fake DNS. */
async function setUp(
  at: StoreUnderTest,
  policy: ProofPolicy = 'dns',
  clock: FakeClock = fakeClock(Date.now()),
) {
  const dns: FakeDns = fakeDns()
  dns.set(TARGET, 'A', OURS)
  const moves: DomainMove[] = []
  const base = { clock, store: at.store, onError: assert.ifError }
  const service = new Domains({
    ...base,
    random: systemRandom,
    serviceHost: { host: TARGET, ports: new Set([443]) },
    claimable: claimableHosts({ serviceNames: [], reserved: [], isOperator: false }),
    proofPolicy: policy,
    quotas: noQuotas(at.store),
    onDue: () => {},
  })
  const node = (
    store = at.store,
    resolver: DnsResolver = dns,
    findCertificate?: (host: string) => Promise<CertificateStanding>,
  ) => {
    let ended = 0
    const checks = new DomainChecks({
      lookups: new FairQueue(LOOKUP_QUEUE),
      ...base,
      store,
      resolver,
      policy,
      proofKey: KEY,
      target: { host: TARGET, addresses: [] },
      isReserved: () => false,
      onMove: (move) => moves.push(move),
      onSlotFree: () => {
        ended += 1
      },
      findCertificate,
    })
    /** Runs checks until none is due. */
    async function runDue(): Promise<void> {
      for (let before = -1; before !== ended; ) {
        before = ended
        await checks.startDue()
        await checks.settled()
      }
    }
    return Object.assign(checks, { runDue })
  }
  const host = `${unique('go')}.acme.test`
  const claim = async () => {
    const { id: workspaceId } = await addWorkspace(at.store)
    const actor = commandLine(workspaceId)
    const { id } = await service.create(actor, { domain: host })
    const proof = proofText(KEY, workspaceId, host)
    return {
      id,
      workspaceId,
      actor,
      proof,
      get: () => service.get(actor, id),
      status: async () => (await service.get(actor, id)).status,
    }
  }
  return { clock, dns, moves, service, node, checks: node(), host, claim }
}

const silences = ['timeout', 'server_failure', 'unreachable'] as const

describeStore('domain checks', (at) => {
  test('activate a claim when its proof and its route are found, and append a change for every node', async () => {
    const { clock, dns, checks, host, claim } = await setUp(at)
    const mine = await claim()
    await checks.runDue()
    assert.equal(await mine.status(), 'pending')
    dns.set(proofName(host), 'TXT', 'v=spf1 -all', mine.proof)
    dns.set(host, 'CNAME', TARGET)
    clock.move(MINUTE - 1)
    await checks.runDue()
    assert.equal(await mine.status(), 'pending', 'it is not due yet')
    const cursor = await at.store.read.changes.end()
    clock.move(1)
    await checks.runDue()
    assert.equal(await mine.status(), 'active')
    const { changes } = await at.store.read.changes.since(cursor, 10)
    assert.deepEqual(
      changes?.map(({ subject }) => subject),
      [host],
    )
  })

  test('never activate a claim by its route alone, however long it has been there', async () => {
    const { clock, dns, checks, host, claim } = await setUp(at)
    const mine = await claim()
    dns.set(host, 'CNAME', TARGET)
    for (let day = 0; day < 8; day += 1) {
      await checks.runDue()
      clock.move(DAY)
    }
    assert.equal(await mine.status(), 'pending')
  })

  test('activate by the route alone when the operator requires no proof', async () => {
    const { dns, checks, host, claim } = await setUp(at, 'routing')
    const mine = await claim()
    dns.set(host, 'A', OURS)
    await checks.runDue()
    assert.equal(await mine.status(), 'active')
  })

  for (const reason of silences) {
    test(`never change a status because of a ${reason}, for weeks`, async () => {
      const { clock, dns, checks, host, claim } = await setUp(at)
      const mine = await claim()
      dns.silence = { kind: 'unknown', reason }
      await checks.runDue()
      assert.equal(await mine.status(), 'pending')
      dns.silence = undefined
      dns.set(proofName(host), 'TXT', mine.proof)
      dns.set(host, 'A', OURS)
      clock.move(MINUTE)
      await checks.runDue()
      assert.equal(await mine.status(), 'active')
      dns.silence = { kind: 'unknown', reason }
      for (let check = 0; check < 80; check += 1) {
        clock.move(6 * HOUR)
        await checks.runDue()
      }
      assert.equal(await mine.status(), 'active')
    })
  }

  test('make a domain pending when its proof has been missing for seven days, and no sooner', async () => {
    const { clock, dns, checks, host, claim } = await setUp(at)
    const mine = await claim()
    dns.set(proofName(host), 'TXT', mine.proof)
    dns.set(host, 'A', OURS)
    await checks.runDue()
    dns.remove(proofName(host), 'TXT')
    for (let check = 0; check < 28; check += 1) {
      clock.move(6 * HOUR)
      await checks.runDue()
      assert.equal(await mine.status(), 'active', `check ${check}`)
    }
    const { missingSince, nextCheckAt } = await checks.report(mine.actor, mine.id)
    assert.equal(pendingFrom(missingSince ?? 0), nextCheckAt)
    clock.move(6 * HOUR)
    await checks.runDue()
    assert.equal(await mine.status(), 'pending')
    assert.equal((await checks.report(mine.actor, mine.id)).missingSince, null)
    dns.set(proofName(host), 'TXT', mine.proof)
    clock.move(MINUTE)
    await checks.runDue()
    assert.equal(await mine.status(), 'active', 'it is looked for again at once')
  })

  test('move a domain to a newer proof only once the old one is gone', async () => {
    const { clock, dns, moves, checks, host, claim } = await setUp(at)
    const [old, newer] = [await claim(), await claim()]
    dns.set(host, 'A', OURS)
    dns.set(proofName(host), 'TXT', old.proof)
    await checks.runDue()
    dns.set(proofName(host), 'TXT', old.proof, newer.proof)
    clock.move(MINUTE)
    await checks.runDue()
    assert.deepEqual([await old.status(), await newer.status()], ['active', 'pending'])
    const report = await checks.report(newer.actor, newer.id)
    assert.deepEqual(
      report.differences.map(({ code }) => code),
      ['active_elsewhere'],
    )
    dns.set(proofName(host), 'TXT', newer.proof)
    clock.move(2 * MINUTE)
    const cursor = await at.store.read.changes.end()
    await checks.runDue()
    assert.deepEqual([await old.status(), await newer.status()], ['pending', 'active'])
    assert.deepEqual(moves, [
      { host, fromWorkspaceId: old.workspaceId, toWorkspaceId: newer.workspaceId },
    ])
    const { changes } = await at.store.read.changes.since(cursor, 10)
    assert.ok(changes?.some(({ subject }) => subject === host))
    clock.move(DAY)
    await checks.runDue()
    assert.deepEqual([await old.status(), await newer.status()], ['pending', 'active'])
  })

  test('keep a domain with its owner while no other claim is newly proved, with or without its old proof', async () => {
    const { clock, dns, checks, host, claim } = await setUp(at)
    const [old, rival] = [await claim(), await claim()]
    dns.set(host, 'A', OURS)
    dns.set(proofName(host), 'TXT', old.proof)
    await checks.runDue()
    dns.remove(proofName(host), 'TXT')
    clock.move(DAY)
    await checks.runDue()
    assert.deepEqual([await old.status(), await rival.status()], ['active', 'pending'])
  })

  test('activate another proved claim at once when the owner removes or renames the domain', async () => {
    for (const leave of ['delete', 'rename'] as const) {
      const { clock, dns, service, checks, host, claim } = await setUp(at)
      const [old, heir] = [await claim(), await claim()]
      dns.set(host, 'A', OURS)
      dns.set(proofName(host), 'TXT', old.proof)
      await checks.runDue()
      assert.equal(await old.status(), 'active')
      dns.set(proofName(host), 'TXT', old.proof, heir.proof)
      clock.move(3 * HOUR)
      await checks.runDue()
      if (leave === 'delete') await service.delete(old.actor, old.id)
      else await service.update(old.actor, old.id, { domain: `${unique('b')}.acme.test` })
      await checks.runDue()
      assert.equal(await heir.status(), 'active', leave)
    }
  })

  test('discard the result for a claim that was renamed during its DNS queries', async () => {
    const { dns, service, checks, host, claim } = await setUp(at)
    const mine = await claim()
    dns.set(proofName(host), 'TXT', mine.proof)
    dns.set(host, 'A', OURS)
    dns.onQuestion = async () => {
      dns.onQuestion = () => {}
      await service.update(mine.actor, mine.id, { domain: `${unique('b')}.acme.test` })
    }
    await checks.runDue()
    assert.equal(await mine.status(), 'pending')
  })

  test('discard a late result when another node has checked since', async () => {
    const { clock, dns, node, host, claim } = await setUp(at)
    const mine = await claim()
    dns.set(host, 'A', OURS)
    const slow = node()
    const quick = node((await at.another()).store)
    dns.onQuestion = async () => {
      dns.onQuestion = () => {}
      clock.move(3 * MINUTE)
      await quick.runDue()
      dns.set(proofName(host), 'TXT', mine.proof)
    }
    await slow.runDue()
    assert.equal(await mine.status(), 'pending')
    // The check without an answer counts as an attempt, so the next one is later.
    clock.move(HOUR)
    await quick.runDue()
    assert.equal(await mine.status(), 'active')
  })

  test('do not move a domain back and forth when DNS contradicts itself', async () => {
    const { clock, dns, node, moves, host, claim } = await setUp(at)
    const [one, other] = [await claim(), await claim()]
    dns.set(host, 'A', OURS)
    dns.set(proofName(host), 'TXT', one.proof)
    await node().runDue()
    clock.move(MINUTE)
    let turn = 0
    const contrary: DnsResolver = {
      ...dns,
      txt: async (name) => {
        if (name !== proofName(host)) return dns.txt(name)
        turn += 1
        return { kind: 'found', values: [turn % 2 === 1 ? other.proof : one.proof] }
      },
    }
    await node(at.store, contrary).runDue()
    assert.equal(moves.length, 1)
  })

  test('run once, however many nodes look for due checks', async () => {
    const { clock, dns, node, claim } = await setUp(at)
    await node().runDue()
    const asked = new Map<string, number>()
    const counting: FakeDns = {
      ...dns,
      txt: async (name) => {
        asked.set(name, (asked.get(name) ?? 0) + 1)
        return dns.txt(name)
      },
    }
    const claims = [await claim(), await claim(), await claim()]
    for (let count = 0; count < 20; count += 1) await (await setUp(at, 'dns', clock)).claim()
    clock.move(1)
    const other = (await at.another()).store
    const nodes = [at.store, other, at.store, other].map((store) => node(store, counting))
    await Promise.all(nodes.map((each) => each.runDue()))
    assert.ok(asked.size >= 21, `${asked.size} hosts were asked for`)
    const times = [...asked.values()]
    assert.equal(times.filter((count) => count > claims.length).length, 0)
    assert.equal(times.filter((count) => count === 1).length, asked.size - 1)
  })

  test('run on demand, once a minute across all nodes', async () => {
    const { clock, dns, node, host, claim } = await setUp(at)
    const mine = await claim()
    const [one, another] = [node(), node((await at.another()).store)]
    const first = await one.verify(mine.actor, mine.id)
    assert.equal(first.domain.status, 'pending')
    dns.set(proofName(host), 'TXT', mine.proof)
    dns.set(host, 'A', OURS)
    clock.move(20)
    await assert.rejects(another.verify(mine.actor, mine.id), (error) => {
      assert.ok(error instanceof Failure)
      assert.equal(error.code, 'rate_limited')
      assert.equal(error.retryAfterSeconds, 40)
      return true
    })
    clock.move(40)
    const second = await another.verify(mine.actor, mine.id)
    assert.equal(second.domain.status, 'active')
    assert.deepEqual(second.differences, [])
  })

  test('retry a failed certificate on demand, and return its state', async () => {
    const { clock, dns, node, host, claim } = await setUp(at)
    const mine = await claim()
    dns.set(proofName(host), 'TXT', mine.proof)
    dns.set(host, 'A', OURS)
    const standing = { life: null, problem: 'no way to it', nextAttemptAt: 1 }
    const checks = node(at.store, dns, async () => standing)
    const now = clock.nowMicros()
    await at.store.write(async (stores) => {
      const place = { workspaceId: mine.workspaceId, queue: 'new' } as const
      await stores.certificateOrders.add(host, place, now)
      await stores.certificateOrders.finish(host, 0, { nextAt: now * 2, failure: 'no way to it' })
    })
    assert.equal((await checks.report(mine.actor, mine.id)).certificate, null)
    const verified = await checks.verify(mine.actor, mine.id)
    assert.deepEqual(verified.certificate, standing)
    assert.equal((await at.store.read.certificateOrders.find(host))?.nextAt, now)
  })

  test('stop after seven days, and run often again after a check on demand', async () => {
    const { clock, dns, checks, host, claim } = await setUp(at)
    const mine = await claim()
    for (let check = 0; check < 60; check += 1) {
      await checks.runDue()
      clock.move(4 * HOUR)
    }
    const quiet = await checks.report(mine.actor, mine.id)
    assert.equal(quiet.nextCheckAt, null)
    await checks.verify(mine.actor, mine.id)
    dns.set(proofName(host), 'TXT', mine.proof)
    dns.set(host, 'A', OURS)
    clock.move(MINUTE)
    await checks.runDue()
    assert.equal(await mine.status(), 'active')
  })

  test('continue in another process after a restart', async () => {
    const { clock, dns, node, host, claim } = await setUp(at)
    const mine = await claim()
    await node().runDue()
    dns.set(proofName(host), 'TXT', mine.proof)
    dns.set(host, 'A', OURS)
    clock.move(MINUTE)
    await node((await at.another()).store).runDue()
    assert.equal(await mine.status(), 'active')
  })

  test('return their leases when the process stops', async () => {
    const { dns, node, host, claim } = await setUp(at)
    const mine = await claim()
    const stopping = node()
    dns.set(proofName(host), 'TXT', mine.proof)
    dns.set(host, 'A', OURS)
    dns.onQuestion = () => stopping.cancel()
    await stopping.runDue()
    assert.equal(await mine.status(), 'pending')
    await node().runDue()
    assert.equal(await mine.status(), 'active')
  })

  test('depend on what is wrong with a domain, not with the service’s own address', async () => {
    const { clock, dns, checks, host, claim } = await setUp(at)
    const mine = await claim()
    dns.set(proofName(host), 'TXT', mine.proof)
    dns.set(host, 'A', OURS)
    await checks.runDue()
    dns.remove(TARGET, 'A')
    for (let check = 0; check < 40; check += 1) {
      clock.move(6 * HOUR)
      await checks.runDue()
    }
    assert.equal(await mine.status(), 'active')
    dns.set(TARGET, 'A', OURS)
    dns.set(host, 'A', THEIRS)
    for (let check = 0; check < 29; check += 1) {
      clock.move(6 * HOUR)
      await checks.runDue()
    }
    assert.equal(await mine.status(), 'pending')
  })
})
