import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { fakeDns } from '../../test/support/fake-dns.ts'
import { dnsLooks } from './dns-look.ts'
import type { Domain } from './domain.ts'
import { type ProofPolicy, proofName, proofText } from './proof.ts'

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

/** Looks under a policy, at a DNS in which the host leads to the service. */
function setUp(policy: ProofPolicy, isReserved = false) {
  const dns = fakeDns()
  dns.set(TARGET.host, 'A', '192.0.2.10')
  dns.set(HOST, 'CNAME', TARGET.host)
  const clock = fakeClock()
  const looks = dnsLooks({
    clock,
    resolver: dns,
    policy,
    proofKey: KEY,
    target: TARGET,
    isReserved: () => isReserved,
  })
  return { dns, ...looks }
}

describe('a look at DNS', () => {
  test('asks for the proof of the workspace under the policy dns alone', async () => {
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

  test('finds the proof of one workspace, and none of another', async () => {
    const { dns, look } = setUp('dns')
    dns.set(proofName(HOST), 'TXT', proofOf(MINE))
    assert.equal((await look(MINE)).verdict, 'proved')
    assert.equal((await look(THEIRS)).verdict, 'unproved')
  })

  test('asks nothing where nothing is to be proved', async () => {
    const none = setUp('none')
    const local = setUp('dns')
    const looks = [await none.look(MINE), await local.look(claimOf('mine', 'go.localhost'))]
    for (const { verdict, observation, records, differences } of looks) {
      assert.deepEqual([verdict, observation, records, differences], ['proved', undefined, [], []])
    }
    assert.equal(none.dns.questions + local.dns.questions, 0)
  })
})

describe('a look at a reserved host under the policy routing', () => {
  test('asks a pending claim for its TXT record, and an active one for the route alone', async () => {
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

  test('asks for nothing under the policy none', async () => {
    assert.equal((await setUp('none', true).look(MINE)).verdict, 'proved')
  })
})

describe('what a workspace sees of the operator’s own network', () => {
  const OWN = ['10.1.2.3', 'fd00::1', '127.0.0.1', '169.254.1.1', '100.64.0.1', '::ffff:10.0.0.1']

  test('no private address, but that there is one', async () => {
    for (const address of OWN) {
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

  test('no private address beside the service’s own, nor the aliases on the way', async () => {
    const { dns, look } = setUp('routing')
    dns.set(HOST, 'CNAME', 'wiki.corp.example')
    dns.set('wiki.corp.example', 'CNAME', 'vm-17.corp.example')
    dns.set('vm-17.corp.example', 'A', '10.1.2.3', '192.0.2.10')
    const { seen, differences } = await look(MINE)
    assert.deepEqual(seen.a, ['192.0.2.10'])
    assert.match(differences[0]?.text ?? '', /end at a private IPv4 address.*remove the A record/)
    assert.deepEqual(seen.cname, ['wiki.corp.example'])
    assert.doesNotMatch(JSON.stringify([seen, differences]), /10\.1\.2\.3|vm-17/)
  })

  test('nothing behind an alias of a special-use name, whether it is there or not', async () => {
    const outcomes = []
    for (const isThere of [true, false]) {
      const { dns, look } = setUp('routing')
      dns.set(HOST, 'CNAME', 'secret.internal')
      if (isThere) {
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

  test('no text that an alias leads to', async () => {
    const { dns, look } = setUp('dns')
    dns.set(proofName(HOST), 'CNAME', 'notes.corp.example')
    dns.set('notes.corp.example', 'TXT', 'a note to ourselves')
    assert.deepEqual((await look(MINE)).seen.txt, [])
  })

  test('its private address where the service itself is at one', async () => {
    const { dns, look } = setUp('routing')
    dns.set(TARGET.host, 'A', '10.0.0.5')
    const { seen, verdict } = await look(MINE)
    assert.equal(verdict, 'proved')
    assert.deepEqual(seen.a, ['10.0.0.5'])
  })
})

describe('the proof of the claim that is active now', () => {
  test('is lost where DNS shows the texts and it is not among them', async () => {
    const { dns, look, hasLostProof } = setUp('dns')
    dns.set(proofName(HOST), 'TXT', proofOf(MINE))
    assert.equal(hasLostProof(THEIRS, await look(MINE)), true)
    dns.set(proofName(HOST), 'TXT', proofOf(MINE), ` "${proofOf(THEIRS)}" `)
    assert.equal(hasLostProof(THEIRS, await look(MINE)), false)
  })

  test('is not lost where DNS does not say', async () => {
    const { dns, look, hasLostProof } = setUp('dns')
    dns.silence = { kind: 'unknown', reason: 'timeout' }
    assert.equal(hasLostProof(THEIRS, await look(MINE)), false)
  })

  test('is not lost where none is asked for', async () => {
    for (const policy of ['routing', 'none'] as const) {
      const { look, hasLostProof } = setUp(policy)
      assert.equal(hasLostProof(THEIRS, await look(MINE)), false, policy)
    }
  })
})
