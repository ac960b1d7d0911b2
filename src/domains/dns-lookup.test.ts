import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { fakeDns } from '../../test/support/fake-dns.ts'
import { type DnsLookup, DnsLookups } from './dns-lookup.ts'
import { type ProofPolicy, proofName, proofText } from './dns-records.ts'
import type { Domain } from './domain.ts'

const HOST = 'go.acme.test'
const TARGET = { host: 'service.test', addresses: [] }
const KEY = Buffer.alloc(32, 7)

function claimOf(workspaceId: string, host = HOST): Domain {
  const nothing = { not_found_url: null, expired_url: null, created_at: 0, updated_at: 0 }
  return { id: workspaceId, workspace_id: workspaceId, host, status: 'pending', ...nothing }
}
const MINE = claimOf('mine')
const THEIRS = claimOf('theirs')
const proofOf = ({ workspace_id, host }: Domain) => proofText(KEY, workspace_id, host)

/** Sets up look-ups under a policy, with a DNS in which the host leads to the service. */
function setUp(policy: ProofPolicy, isReserved = false) {
  const dns = fakeDns()
  dns.set(TARGET.host, 'A', '192.0.2.10')
  dns.set(HOST, 'CNAME', TARGET.host)
  const clock = fakeClock()
  const lookups = new DnsLookups({
    clock,
    resolver: dns,
    policy,
    proofKey: KEY,
    target: TARGET,
    isReserved: () => isReserved,
  })
  return {
    dns,
    look: (domain: Domain) => lookups.lookUp(domain),
    hasLostProof: (active: Domain, found: DnsLookup) => lookups.hasLostProof(active, found),
  }
}

describe('DnsLookups', () => {
  test('requires the workspace’s TXT proof only under the policy dns', async () => {
    const strict = await setUp('dns').look(MINE)
    assert.equal(strict.verdict, 'unproved')
    assert.deepEqual(
      strict.records.map(({ purpose, value }) => [purpose, value]),
      [
        ['ownership', proofOf(MINE)],
        ['routing', TARGET.host],
      ],
    )
    assert.deepEqual(
      strict.differences.map(({ code }) => code),
      ['txt_missing'],
    )
    const routing = await setUp('routing').look(MINE)
    assert.equal(routing.verdict, 'proved')
    assert.deepEqual(
      routing.records.map(({ purpose }) => purpose),
      ['routing'],
    )
    assert.deepEqual(routing.differences, [])
  })

  test('accepts the proof of one workspace and not that of another', async () => {
    const { dns, look } = setUp('dns')
    dns.set(proofName(HOST), 'TXT', proofOf(MINE))
    assert.equal((await look(MINE)).verdict, 'proved')
    assert.equal((await look(THEIRS)).verdict, 'unproved')
  })

  test('sends no DNS query when no proof is required', async () => {
    const none = setUp('none')
    const local = setUp('dns')
    const found = [await none.look(MINE), await local.look(claimOf('mine', 'go.localhost'))]
    for (const { verdict, observation, records, differences } of found) {
      assert.deepEqual([verdict, observation, records, differences], ['proved', undefined, [], []])
    }
    assert.equal(none.dns.questions + local.dns.questions, 0)
  })
})

describe('DnsLookups of a reserved host under the policy routing', () => {
  test('requires the TXT proof from a pending claim, and only the route from an active one', async () => {
    const { dns, look } = setUp('routing', true)
    const pending = await look(MINE)
    assert.equal(pending.policy, 'dns')
    assert.equal(pending.verdict, 'unproved')
    assert.deepEqual(
      pending.differences.map(({ code }) => code),
      ['txt_missing'],
    )
    assert.equal((await look({ ...MINE, status: 'active' })).verdict, 'proved')
    dns.set(proofName(HOST), 'TXT', proofOf(MINE))
    assert.equal((await look(MINE)).verdict, 'proved')
    assert.equal((await look(THEIRS)).verdict, 'unproved')
  })

  test('requires nothing under the policy none', async () => {
    assert.equal((await setUp('none', true).look(MINE)).verdict, 'proved')
  })
})

describe('DnsLookups of a host in the operator’s private network', () => {
  const PRIVATE_ADDRESSES = [
    '10.1.2.3',
    'fd00::1',
    '127.0.0.1',
    '169.254.1.1',
    '100.64.0.1',
    '::ffff:10.0.0.1',
  ]

  test('hides private addresses, but reports that there is one', async () => {
    for (const address of PRIVATE_ADDRESSES) {
      const type = address.includes(':') ? 'AAAA' : 'A'
      const { dns, look } = setUp('routing')
      dns.remove(HOST, 'CNAME')
      dns.set(HOST, type, address)
      const { seen, differences, verdict } = await look(MINE)
      assert.equal(verdict, 'unproved')
      assert.deepEqual([seen.a, seen.aaaa], [[], []])
      const [{ code, text } = { code: '', text: '' }] = differences
      assert.equal(code, 'host_elsewhere')
      assert.match(text, /leads to a private IPv[46] address, which is not this service/)
      assert.ok(!text.includes(address), text)
    }
  })

  test('hides a private address beside the service’s own, and the aliases in between', async () => {
    const { dns, look } = setUp('routing')
    dns.set(HOST, 'CNAME', 'wiki.corp.example')
    dns.set('wiki.corp.example', 'CNAME', 'vm-17.corp.example')
    dns.set('vm-17.corp.example', 'A', '10.1.2.3', '192.0.2.10')
    const { seen, differences } = await look(MINE)
    assert.deepEqual(seen.a, ['192.0.2.10'])
    assert.match(
      differences[0]?.text ?? '',
      /are sent to a private IPv4 address.*remove the A record/,
    )
    assert.deepEqual(seen.cname, ['wiki.corp.example'])
    assert.doesNotMatch(JSON.stringify([seen, differences]), /10\.1\.2\.3|vm-17/)
  })

  test('hides what is behind an alias of a special-use name, and whether it exists', async () => {
    const outcomes = []
    for (const exists of [true, false]) {
      const { dns, look } = setUp('routing')
      dns.set(HOST, 'CNAME', 'secret.internal')
      if (exists) {
        dns.set('secret.internal', 'CNAME', 'vm-17.internal')
        dns.set('vm-17.internal', 'A', '198.51.100.7')
      }
      const { seen, differences, verdict } = await look(MINE)
      outcomes.push({ seen, differences, verdict })
    }
    assert.deepEqual(outcomes[0], outcomes[1])
    assert.deepEqual(outcomes[0]?.seen.cname, ['secret.internal'])
    assert.equal(outcomes[0]?.differences[0]?.code, 'host_dangling')
  })

  test('hides the TXT records that an alias leads to', async () => {
    const { dns, look } = setUp('dns')
    dns.set(proofName(HOST), 'CNAME', 'notes.corp.example')
    dns.set('notes.corp.example', 'TXT', 'a note to ourselves')
    assert.deepEqual((await look(MINE)).seen.txt, [])
  })

  test('shows a private address when the service itself has one', async () => {
    const { dns, look } = setUp('routing')
    dns.set(TARGET.host, 'A', '10.0.0.5')
    const { seen, verdict } = await look(MINE)
    assert.equal(verdict, 'proved')
    assert.deepEqual(seen.a, ['10.0.0.5'])
  })
})

describe('DnsLookups.hasLostProof', () => {
  test('is true when DNS answers and the proof is not among the texts', async () => {
    const { dns, look, hasLostProof } = setUp('dns')
    dns.set(proofName(HOST), 'TXT', proofOf(MINE))
    assert.equal(hasLostProof(THEIRS, await look(MINE)), true)
    dns.set(proofName(HOST), 'TXT', proofOf(MINE), ` "${proofOf(THEIRS)}" `)
    assert.equal(hasLostProof(THEIRS, await look(MINE)), false)
  })

  test('is false when DNS does not answer', async () => {
    const { dns, look, hasLostProof } = setUp('dns')
    dns.silence = { kind: 'unknown', reason: 'timeout' }
    assert.equal(hasLostProof(THEIRS, await look(MINE)), false)
  })

  test('is false when no proof is required', async () => {
    for (const policy of ['routing', 'none'] as const) {
      const { look, hasLostProof } = setUp(policy)
      assert.equal(hasLostProof(THEIRS, await look(MINE)), false, policy)
    }
  })
})
