import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { type FakeDns, fakeDns } from '../../test/support/fake-dns.ts'
import { adviseOnOwnership, adviseOnRouting } from './dns-advice.ts'
import {
  judgeOwnership,
  judgeRouting,
  type Ownership,
  type Routing,
  verdictOf,
} from './dns-judgement.ts'
import { observeDns } from './dns-observation.ts'
import { recordsFor } from './dns-records.ts'
import { proofName, proofText } from './proof.ts'
import { serviceAddresses } from './service-target.ts'

const HOST = 'go.acme.test'
const TARGET = { host: 'service.test', addresses: [] }
const KEY = Buffer.alloc(32, 1)
const PROOF = proofText(KEY, 'workspace', HOST)

/** DNS in which the service has its addresses, and what `prepare` adds. */
async function judged(prepare: (dns: FakeDns) => void, addresses: readonly string[] = []) {
  const dns = fakeDns()
  const clock = fakeClock()
  dns.set(TARGET.host, 'A', '192.0.2.10')
  dns.set(TARGET.host, 'AAAA', '2001:db8::10')
  prepare(dns)
  const service = await serviceAddresses({ ...TARGET, addresses }, dns, clock)()
  const seen = await observeDns(dns, HOST, clock)
  return {
    ownership: judgeOwnership(seen, PROOF),
    routing: judgeRouting(seen, service),
    records: recordsFor(HOST, PROOF, TARGET, service),
  }
}

const TEXTS: { name: string; texts: string[]; state: Ownership['state'] }[] = [
  { name: 'the proof itself', texts: [PROOF], state: 'proved' },
  { name: 'the proof in quotes that a panel kept', texts: [`"${PROOF}"`], state: 'proved' },
  { name: 'the proof in spaces', texts: [` ${PROOF} `], state: 'proved' },
  { name: 'the proof among others', texts: ['v=spf1', PROOF, 'x'], state: 'proved' },
  { name: 'a proof that is cut short', texts: [PROOF.slice(0, -1)], state: 'different' },
  { name: 'a proof with more after it', texts: [`${PROOF}0`], state: 'different' },
  {
    name: 'the proof of another host',
    texts: [proofText(KEY, 'workspace', 'acme.test')],
    state: 'different',
  },
  {
    name: 'the proof of another workspace',
    texts: [proofText(KEY, 'other', HOST)],
    state: 'different',
  },
  {
    name: 'the proof under another key',
    texts: [proofText(Buffer.alloc(32), 'workspace', HOST)],
    state: 'different',
  },
  { name: 'other texts', texts: ['v=spf1 -all'], state: 'missing' },
  { name: 'an empty text', texts: [''], state: 'missing' },
]

describe('the owner’s word', () => {
  for (const { name, texts, state } of TEXTS) {
    test(`${name}: ${state}`, async () => {
      const { ownership } = await judged((dns) => dns.set(proofName(HOST), 'TXT', ...texts))
      assert.equal(ownership.state, state)
    })
  }

  test('is not that of whoever an alias leads to', async () => {
    const { ownership } = await judged((dns) => {
      dns.set(proofName(HOST), 'CNAME', 'attacker.test')
      dns.set('attacker.test', 'TXT', PROOF)
    })
    assert.deepEqual(ownership, { state: 'aliased', target: 'attacker.test' })
  })

  test('is not taken while it is unknown whether an alias speaks', async () => {
    const { ownership } = await judged((dns) => {
      dns.set(proofName(HOST), 'TXT', PROOF)
      dns.cname = async () => ({ kind: 'unknown', reason: 'timeout' })
    })
    assert.deepEqual(ownership, { state: 'unknown', reason: 'timeout' })
  })
})

const ROUTES: {
  name: string
  prepare: (dns: FakeDns) => void
  addresses?: string[]
  expected: Routing
}[] = [
  {
    name: 'an alias of the service',
    prepare: (dns) => dns.set(HOST, 'CNAME', TARGET.host),
    expected: { state: 'routed', strangers: [] },
  },
  {
    name: 'IPv6 alone, written in another way',
    prepare: (dns) => dns.set(HOST, 'AAAA', '2001:db8:0:0::10'),
    expected: { state: 'routed', strangers: [] },
  },
  {
    name: 'a stray address beside the right one',
    prepare: (dns) => {
      dns.set(HOST, 'A', '192.0.2.10')
      dns.set(HOST, 'AAAA', '2001:db8:bad::1')
    },
    expected: { state: 'routed', strangers: ['2001:db8:bad::1'] },
  },
  {
    name: 'an address in the networks that the operator names',
    prepare: (dns) => dns.set(HOST, 'A', '203.0.113.77'),
    addresses: ['203.0.113.0/24'],
    expected: { state: 'routed', strangers: [] },
  },
  {
    name: 'the address in DNS, where the operator names others',
    prepare: (dns) => dns.set(HOST, 'A', '192.0.2.10'),
    addresses: ['203.0.113.1'],
    expected: { state: 'elsewhere', addresses: ['192.0.2.10'] },
  },
  { name: 'no name', prepare: () => {}, expected: { state: 'no_name' } },
  {
    name: 'a name with other records alone',
    prepare: (dns) => dns.set(HOST, 'TXT', 'x'),
    expected: { state: 'no_address' },
  },
  {
    name: 'an alias of nothing',
    prepare: (dns) => dns.set(HOST, 'CNAME', 'gone.test'),
    expected: { state: 'dangling', target: 'gone.test' },
  },
  {
    name: 'an alias of a name that public DNS does not have',
    prepare: (dns) => {
      dns.set(HOST, 'CNAME', 'db.internal')
      dns.set('db.internal', 'A', '198.51.100.7')
    },
    expected: { state: 'dangling', target: 'db.internal' },
  },
  {
    name: 'a loop, on which resolvers fail',
    prepare: (dns) => {
      dns.set(HOST, 'CNAME', 'b.test')
      dns.set('b.test', 'CNAME', HOST)
      dns.ipv4 = async (name) =>
        name === TARGET.host
          ? { kind: 'found', values: ['192.0.2.10'] }
          : { kind: 'unknown', reason: 'server_failure' }
      dns.ipv6 = async () => ({ kind: 'none', nameExists: true })
    },
    expected: { state: 'loop' },
  },
  {
    name: 'a chain without end',
    prepare: (dns) => {
      dns.set(HOST, 'CNAME', 'n0.test')
      for (let step = 0; step < 30; step += 1)
        dns.set(`n${step}.test`, 'CNAME', `n${step + 1}.test`)
    },
    expected: { state: 'too_many_aliases' },
  },
  {
    name: 'a proxy by its address',
    prepare: (dns) => dns.set(HOST, 'AAAA', '2606:4700::6810:1'),
    expected: { state: 'proxied', proxy: 'Cloudflare' },
  },
  {
    name: 'a proxy by its name',
    prepare: (dns) => {
      dns.set(HOST, 'CNAME', 'd111.cloudfront.net')
      dns.set('d111.cloudfront.net', 'A', '198.51.100.9')
    },
    expected: { state: 'proxied', proxy: 'Amazon CloudFront' },
  },
  {
    name: 'half an answer that is enough',
    prepare: (dns) => {
      dns.set(HOST, 'A', '192.0.2.10')
      const { ipv6 } = dns
      dns.ipv6 = (name) =>
        name === HOST ? Promise.resolve({ kind: 'unknown', reason: 'timeout' }) : ipv6(name)
    },
    expected: { state: 'routed', strangers: [] },
  },
  {
    name: 'half an answer that is not',
    prepare: (dns) => {
      dns.set(HOST, 'A', '198.51.100.1')
      const { ipv6 } = dns
      dns.ipv6 = (name) =>
        name === HOST ? Promise.resolve({ kind: 'unknown', reason: 'timeout' }) : ipv6(name)
    },
    expected: { state: 'unknown', reason: 'timeout' },
  },
  {
    name: 'a service that has no address itself',
    prepare: (dns) => {
      dns.set(HOST, 'A', '192.0.2.10')
      dns.remove(TARGET.host, 'A')
      dns.remove(TARGET.host, 'AAAA')
    },
    expected: { state: 'service_unknown', reason: 'none' },
  },
]

describe('the route of a host', () => {
  for (const { name, prepare, addresses, expected } of ROUTES) {
    test(`${name}: ${expected.state}`, async () => {
      const { routing, records } = await judged(prepare, addresses)
      if (routing.state === 'loop') assert.equal(expected.state, 'loop')
      else assert.deepEqual(routing, expected)
      const advice = adviseOnRouting(HOST, routing, records)
      const isFine = routing.state === 'routed' && routing.strangers.length === 0
      assert.equal(advice.length, isFine ? 0 : 1)
      for (const { text } of advice) assert.match(text, /^[^\n]+\.$/)
    })
  }
})

describe('the verdict', () => {
  const proved: Ownership = { state: 'proved' }
  const missing: Ownership = { state: 'missing' }
  const silent: Ownership = { state: 'unknown', reason: 'timeout' }
  const routed: Routing = { state: 'routed', strangers: [] }
  const nowhere: Routing = { state: 'no_name' }
  const unseen: Routing = { state: 'unknown', reason: 'timeout' }
  const CASES = [
    ['dns', proved, routed, 'proved'],
    ['dns', missing, routed, 'unproved'],
    ['dns', proved, nowhere, 'unproved'],
    ['dns', silent, routed, 'unknown'],
    ['dns', proved, unseen, 'unknown'],
    ['dns', silent, nowhere, 'unproved'],
    ['dns', missing, unseen, 'unproved'],
    ['routing', missing, routed, 'proved'],
    ['routing', proved, nowhere, 'unproved'],
    ['routing', proved, unseen, 'unknown'],
  ] as const
  for (const [policy, ownership, routing, expected] of CASES) {
    test(`${policy}, ${ownership.state}, ${routing.state}: ${expected}`, () => {
      assert.equal(verdictOf(policy, ownership, routing), expected)
    })
  }
})

test('the advice on a missing proof holds the very record to set', async () => {
  const { ownership, records } = await judged(() => {})
  const [advice] = adviseOnOwnership(HOST, ownership, records)
  assert.equal(advice?.text, `Add a TXT record named _terse.go with the value ${PROOF}.`)
})
