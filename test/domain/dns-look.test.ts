import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dnsLooks } from '../../src/domain/domains/dns-look.ts'
import type { Domain } from '../../src/domain/domains/domain.ts'
import { type ProofPolicy, proofName, proofText } from '../../src/domain/domains/proof.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { fakeDns } from '../support/fake-dns.ts'

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
function setUp(policy: ProofPolicy) {
  const dns = fakeDns()
  dns.set(TARGET.host, 'A', '192.0.2.10')
  dns.set(HOST, 'CNAME', TARGET.host)
  const clock = fakeClock()
  return { dns, ...dnsLooks({ clock, resolver: dns, policy, proofKey: KEY, target: TARGET }) }
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
    for (const seen of looks) {
      const nothing = { observation: undefined, records: [], differences: [] }
      assert.deepEqual(seen, { verdict: 'proved', ...nothing })
    }
    assert.equal(none.dns.questions + local.dns.questions, 0)
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
