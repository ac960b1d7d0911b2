import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { type FakeDns, fakeDns } from '../../test/support/fake-dns.ts'
import { adviseOnOwnership, adviseOnRouting } from './dns-advice.ts'
import {
  judgeOwnership,
  judgeRouting,
  type Ownership,
  observeDns,
  type Routing,
  verdictOf,
} from './dns-judgement.ts'
import { proofName, proofText, recordsFor, serviceAddresses } from './dns-records.ts'

const HOST = 'go.acme.test'
const TARGET = { host: 'service.test', addresses: [] }
const KEY = Buffer.alloc(32, 1)
const PROOF = proofText(KEY, 'workspace', HOST)

/** Judges a DNS that holds the service’s addresses and the records that `prepare` adds. */
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
  { name: 'the proof in quotes that a DNS panel added', texts: [`"${PROOF}"`], state: 'proved' },
  { name: 'the proof between spaces', texts: [` ${PROOF} `], state: 'proved' },
  { name: 'the proof among other texts', texts: ['v=spf1', PROOF, 'x'], state: 'proved' },
  { name: 'a truncated proof', texts: [PROOF.slice(0, -1)], state: 'different' },
  { name: 'a proof with an extra character', texts: [`${PROOF}0`], state: 'different' },
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

describe('judgeOwnership', () => {
  for (const { name, texts, state } of TEXTS) {
    test(`returns ${state} for ${name}`, async () => {
      const { ownership } = await judged((dns) => dns.set(proofName(HOST), 'TXT', ...texts))
      assert.equal(ownership.state, state)
    })
  }

  test('ignores the TXT record that an alias leads to', async () => {
    const { ownership } = await judged((dns) => {
      dns.set(proofName(HOST), 'CNAME', 'attacker.test')
      dns.set('attacker.test', 'TXT', PROOF)
    })
    assert.deepEqual(ownership, { state: 'aliased', target: 'attacker.test' })
  })

  test('is unknown while DNS does not answer whether the name is an alias', async () => {
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
    expected: { state: 'routed', otherAddresses: [] },
  },
  {
    name: 'only an IPv6 address, in another notation',
    prepare: (dns) => dns.set(HOST, 'AAAA', '2001:db8:0:0::10'),
    expected: { state: 'routed', otherAddresses: [] },
  },
  {
    name: 'a foreign address beside the service’s',
    prepare: (dns) => {
      dns.set(HOST, 'A', '192.0.2.10')
      dns.set(HOST, 'AAAA', '2001:db8:bad::1')
    },
    expected: { state: 'routed', otherAddresses: ['2001:db8:bad::1'] },
  },
  {
    name: 'an address in the operator’s networks',
    prepare: (dns) => dns.set(HOST, 'A', '203.0.113.77'),
    addresses: ['203.0.113.0/24'],
    expected: { state: 'routed', otherAddresses: [] },
  },
  {
    name: 'the address in DNS when the operator configured others',
    prepare: (dns) => dns.set(HOST, 'A', '192.0.2.10'),
    addresses: ['203.0.113.1'],
    expected: { state: 'elsewhere', addresses: ['192.0.2.10'] },
  },
  { name: 'a name that does not exist', prepare: () => {}, expected: { state: 'no_name' } },
  {
    name: 'a name without address records',
    prepare: (dns) => dns.set(HOST, 'TXT', 'x'),
    expected: { state: 'no_address' },
  },
  {
    name: 'an alias of a missing name',
    prepare: (dns) => dns.set(HOST, 'CNAME', 'gone.test'),
    expected: { state: 'dangling', target: 'gone.test' },
  },
  {
    name: 'an alias of a special-use name',
    prepare: (dns) => {
      dns.set(HOST, 'CNAME', 'db.internal')
      dns.set('db.internal', 'A', '198.51.100.7')
    },
    expected: { state: 'dangling', target: 'db.internal' },
  },
  {
    name: 'a loop of aliases, on which resolvers fail',
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
    name: 'an endless chain of aliases',
    prepare: (dns) => {
      dns.set(HOST, 'CNAME', 'n0.test')
      for (let step = 0; step < 30; step += 1)
        dns.set(`n${step}.test`, 'CNAME', `n${step + 1}.test`)
    },
    expected: { state: 'too_many_aliases' },
  },
  {
    name: 'a proxy recognised by its address',
    prepare: (dns) => dns.set(HOST, 'AAAA', '2606:4700::6810:1'),
    expected: { state: 'proxied', proxy: 'Cloudflare' },
  },
  {
    name: 'a proxy recognised by its name',
    prepare: (dns) => {
      dns.set(HOST, 'CNAME', 'd111.cloudfront.net')
      dns.set('d111.cloudfront.net', 'A', '198.51.100.9')
    },
    expected: { state: 'proxied', proxy: 'Amazon CloudFront' },
  },
  {
    name: 'an IPv4 answer that is enough without IPv6',
    prepare: (dns) => {
      dns.set(HOST, 'A', '192.0.2.10')
      const { ipv6 } = dns
      dns.ipv6 = (name) =>
        name === HOST ? Promise.resolve({ kind: 'unknown', reason: 'timeout' }) : ipv6(name)
    },
    expected: { state: 'routed', otherAddresses: [] },
  },
  {
    name: 'an IPv4 answer that is not enough without IPv6',
    prepare: (dns) => {
      dns.set(HOST, 'A', '198.51.100.1')
      const { ipv6 } = dns
      dns.ipv6 = (name) =>
        name === HOST ? Promise.resolve({ kind: 'unknown', reason: 'timeout' }) : ipv6(name)
    },
    expected: { state: 'unknown', reason: 'timeout' },
  },
  {
    name: 'a service without an address',
    prepare: (dns) => {
      dns.set(HOST, 'A', '192.0.2.10')
      dns.remove(TARGET.host, 'A')
      dns.remove(TARGET.host, 'AAAA')
    },
    expected: { state: 'service_unknown', reason: 'none' },
  },
]

describe('judgeRouting', () => {
  for (const { name, prepare, addresses, expected } of ROUTES) {
    test(`returns ${expected.state} for ${name}, with advice in one sentence per fault`, async () => {
      const { routing, records } = await judged(prepare, addresses)
      if (routing.state === 'loop') assert.equal(expected.state, 'loop')
      else assert.deepEqual(routing, expected)
      const advice = adviseOnRouting(HOST, routing, records)
      const isFine = routing.state === 'routed' && routing.otherAddresses.length === 0
      assert.equal(advice.length, isFine ? 0 : 1)
      for (const { text } of advice) assert.match(text, /^[^\n]+\.$/)
    })
  }
})

describe('verdictOf', () => {
  const proved: Ownership = { state: 'proved' }
  const missing: Ownership = { state: 'missing' }
  const ownershipUnknown: Ownership = { state: 'unknown', reason: 'timeout' }
  const routed: Routing = { state: 'routed', otherAddresses: [] }
  const noName: Routing = { state: 'no_name' }
  const routingUnknown: Routing = { state: 'unknown', reason: 'timeout' }
  const CASES = [
    ['dns', proved, routed, 'proved'],
    ['dns', missing, routed, 'unproved'],
    ['dns', proved, noName, 'unproved'],
    ['dns', ownershipUnknown, routed, 'unknown'],
    ['dns', proved, routingUnknown, 'unknown'],
    ['dns', ownershipUnknown, noName, 'unproved'],
    ['dns', missing, routingUnknown, 'unproved'],
    ['routing', missing, routed, 'proved'],
    ['routing', proved, noName, 'unproved'],
    ['routing', proved, routingUnknown, 'unknown'],
  ] as const
  for (const [policy, ownership, routing, expected] of CASES) {
    test(`is ${expected} under policy ${policy} with ownership ${ownership.state} and routing ${routing.state}`, () => {
      assert.equal(verdictOf(policy, ownership, routing), expected)
    })
  }
})

test('the advice on a missing proof contains the TXT record to set', async () => {
  const { ownership, records } = await judged(() => {})
  const [advice] = adviseOnOwnership(HOST, ownership, records)
  assert.equal(advice?.text, `Add a TXT record named _terse.go with the value ${PROOF}.`)
})
