import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { CaresResolver, type ResolverOptions } from '../../src/platform/dns/cares-resolver.ts'
import { type DnsAnswer, valuesOf } from '../../src/platform/dns/dns-resolver.ts'
import {
  type DnsQuestion,
  type DnsReply,
  NXDOMAIN,
  SERVFAIL,
  startDnsResponder,
} from '../support/dns-responder.ts'
import { eventually } from '../support/eventually.ts'
import { NO_DNS } from '../support/no-dns.ts'

const NAME = 'go.acme.test'
/** For tests that wait until a server has failed to answer. */
const IMPATIENT = { timeoutMs: 300 }
const REFUSED = 5

async function resolverFor(
  t: TestContext,
  reply: (question: DnsQuestion) => DnsReply,
  options: Partial<ResolverOptions> = {},
) {
  const responder = await startDnsResponder(reply)
  t.after(() => responder.stop())
  const servers = [responder.address]
  // Generous, because a responder on a busy machine may answer late.
  const patient = { servers, timeoutMs: 10_000, tries: 2, deadlineMs: 30_000 }
  return { responder, resolver: new CaresResolver({ ...patient, ...options }) }
}

const unknown = (reason: string) => ({ kind: 'unknown', reason })

const SIMPLE: {
  name: string
  reply: DnsReply
  expected: { kind: string; [detail: string]: unknown }
}[] = [
  { name: 'NXDOMAIN', reply: { rcode: NXDOMAIN }, expected: { kind: 'none', nameExists: false } },
  { name: 'an empty answer', reply: {}, expected: { kind: 'none', nameExists: true } },
  { name: 'SERVFAIL', reply: { rcode: SERVFAIL }, expected: unknown('server_failure') },
  { name: 'REFUSED', reply: { rcode: REFUSED }, expected: unknown('server_failure') },
  { name: 'silence', reply: 'silence', expected: unknown('timeout') },
  {
    name: 'an alias without the address of its target',
    reply: { answers: [{ type: 'CNAME', name: NAME, data: 'elsewhere.test' }] },
    expected: { kind: 'none', nameExists: true },
  },
]
for (const { name, reply, expected } of SIMPLE) {
  test(`the resolver returns ${expected.kind} for ${name}`, async (t) => {
    const options = reply === 'silence' ? IMPATIENT : {}
    const { resolver } = await resolverFor(t, () => reply, options)
    assert.deepEqual(await resolver.ipv4(NAME), expected)
    assert.deepEqual(await resolver.txt(NAME), expected)
  })
}

test('the resolver returns unreachable for a server that does not respond', async () => {
  const resolver = new CaresResolver({
    servers: [NO_DNS],
    ...IMPATIENT,
    tries: 1,
    deadlineMs: 30_000,
  })
  assert.deepEqual(await resolver.txt(NAME), unknown('unreachable'))
})

test('the resolver returns unknown, never a missing record, for a malformed reply', async (t) => {
  const { resolver } = await resolverFor(
    t,
    () => Buffer.from('certainly not a DNS message'),
    IMPATIENT,
  )
  assert.equal((await resolver.txt(NAME)).kind, 'unknown')
})

test('the resolver asks the next server when one is silent', async (t) => {
  const silent = await startDnsResponder(() => 'silence')
  t.after(() => silent.stop())
  const answering = await startDnsResponder(() => ({
    answers: [{ type: 'A', name: NAME, data: '192.0.2.1' }],
  }))
  t.after(() => answering.stop())
  const servers = [silent.address, answering.address]
  const resolver = new CaresResolver({ servers, timeoutMs: 500, tries: 2, deadlineMs: 30_000 })
  assert.deepEqual(await resolver.ipv4(NAME), { kind: 'found', values: ['192.0.2.1'] })
})

test('the resolver gives up at its deadline, however many tries are left', async (t) => {
  const { resolver } = await resolverFor(t, () => 'silence', {
    timeoutMs: 1_000,
    tries: 20,
    deadlineMs: 400,
  })
  const startedAtMs = performance.now()
  assert.deepEqual(await resolver.txt(NAME), unknown('timeout'))
  assert.ok(performance.now() - startedAtMs < 10_000, 'all 20 tries would take 20 s')
})

test('the resolver sends a query to a silent server as often as configured', async (t) => {
  const { responder, resolver } = await resolverFor(t, () => 'silence', {
    timeoutMs: 250,
    tries: 2,
  })
  await resolver.ipv6(NAME)
  await eventually(async () => assert.equal(responder.asked.length, 2))
})

test('cancel ends every pending query', async (t) => {
  const { resolver } = await resolverFor(t, () => 'silence', {
    timeoutMs: 60_000,
    deadlineMs: 60_000,
  })
  const queries = Promise.all([resolver.txt(NAME), resolver.ipv4(NAME)])
  resolver.cancel()
  assert.deepEqual(await queries, [unknown('timeout'), unknown('timeout')])
})

test('the resolver fetches texts that exceed a datagram over TCP, all of them', async (t) => {
  const texts = Array.from({ length: 100 }, (_, index) => `text ${index} ${'x'.repeat(60)}`)
  const { responder, resolver } = await resolverFor(t, ({ transport }) =>
    transport === 'udp'
      ? { truncated: true }
      : { answers: texts.map((data) => ({ type: 'TXT', name: NAME, data: [data] })) },
  )
  const answer = await resolver.txt(NAME)
  assert.deepEqual(valuesOf(answer).toSorted(), texts.toSorted())
  assert.deepEqual(
    responder.asked.map(({ transport }) => transport),
    ['udp', 'tcp'],
  )
})

test('the resolver joins the parts of a long text', async (t) => {
  const { resolver } = await resolverFor(t, () => ({
    answers: [{ type: 'TXT', name: NAME, data: ['terse-', 'verify=', 'abc'] }],
  }))
  assert.deepEqual(valuesOf(await resolver.txt(NAME)), ['terse-verify=abc'])
})

test('the resolver replaces control characters in texts', async (t) => {
  const { resolver } = await resolverFor(t, () => ({
    answers: [{ type: 'TXT', name: NAME, data: ['\u001b[2J\r\nok\u0007', `${'x'.repeat(255)}`] }],
  }))
  const [text = ''] = valuesOf(await resolver.txt(NAME))
  assert.match(text, /^\?\[2J\?\?ok\?x{200}/)
  assert.match(text, /^[\x20-\x7e]*$/)
})

test('the resolver reads aliases, IPv4 and IPv6 addresses, and CAA', async (t) => {
  const { resolver } = await resolverFor(t, ({ type, name }) => {
    if (type === 'CNAME') return { answers: [{ type, name, data: 'Target.acme.test' }] }
    if (type === 'A') return { answers: [{ type, name, data: '192.0.2.1' }] }
    if (type === 'AAAA') return { answers: [{ type, name, data: '2001:db8::1' }] }
    if (type === 'CAA') {
      const data = { flags: 128, tag: 'issue' as const, value: 'ca.example' }
      return { answers: [{ type, name, data }] }
    }
    return 'silence'
  })
  const values = async (answer: Promise<DnsAnswer<unknown>>) => valuesOf(await answer)
  assert.deepEqual(await values(resolver.cname(NAME)), ['Target.acme.test'])
  assert.deepEqual(await values(resolver.ipv4(NAME)), ['192.0.2.1'])
  assert.deepEqual(await values(resolver.ipv6(NAME)), ['2001:db8::1'])
  assert.deepEqual(await values(resolver.caa(NAME)), [
    { tag: 'issue', value: 'ca.example', isCritical: true },
  ])
})

test('the resolver does not cache answers', async (t) => {
  let address = 0
  const { resolver } = await resolverFor(t, () => {
    address += 1
    return { answers: [{ type: 'A', name: NAME, ttl: 3_600, data: `192.0.2.${address}` }] }
  })
  assert.deepEqual(valuesOf(await resolver.ipv4(NAME)), ['192.0.2.1'])
  assert.deepEqual(valuesOf(await resolver.ipv4(NAME)), ['192.0.2.2'])
})
