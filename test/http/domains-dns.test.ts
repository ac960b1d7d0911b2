import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { expectProblem } from '../support/problems.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const TARGET = 'go.terse.test'
/** Records that exist in every test: the service’s own, and common mistakes of domain owners. */
const ALWAYS = [
  'go.terse A 192.0.2.10',
  'go.terse A 192.0.2.11',
  'go.terse AAAA 2001:db8::10',
  'loop CNAME loop2',
  'loop2 CNAME loop',
  'dangling CNAME nowhere',
  'elsewhere A 198.51.100.1',
  'proxied A 104.16.1.1',
  'proxied AAAA 2606:4700::1',
  'stray A 192.0.2.11',
  'stray AAAA 2001:db8:bad::1',
  'six AAAA 2001:db8:0:0:0:0:0:10',
  'chain CNAME chain1',
  'chain1 CNAME chain2',
  `chain2 CNAME ${TARGET}.`,
  `*.wild CNAME ${TARGET}.`,
  'shop.panel TXT "something else"',
  'acme CNAME apex-a',
  'apex-a A 192.0.2.10',
  `ready CNAME ${TARGET}.`,
]

describe('the DNS of a domain', { skip: skipWithout('knotd') }, () => {
  let dns: DnsServer
  let service: Service
  let acme: Api
  const added: string[] = []
  before(async () => {
    dns = await startDnsServer(ALWAYS)
    service = await startService(SQLITE, {
      TERSE_DNS_SERVERS: dns.address,
      TERSE_BASE_URL: `https://${TARGET}`,
    })
    acme = await service.api('acme')
  })
  after(async () => {
    await service.stop()
    await dns.stop()
  })

  const create = async (domain: string, api = acme): Promise<string> =>
    expectStatus(await api.post('/domains', { domain }), 201).body.id
  const report = async (id: string, api = acme) =>
    expectStatus(await api.get(`/domains/${id}/dns`), 200).body
  const verify = async (id: string, api = acme) =>
    expectStatus(await api.post(`/domains/${id}/verify`, undefined), 200).body
  const codes = (body: { differences: { code: string }[] }) =>
    body.differences.map(({ code }) => code)

  /** Adds lines to the zone, as a domain owner does in their DNS panel. */
  async function setRecords(...lines: string[]): Promise<void> {
    added.push(...lines)
    await dns.serve([...ALWAYS, ...added])
  }
  const txtLine = ({
    records,
  }: {
    records: { type: string; full_name: string; value: string }[]
  }) => {
    const record = records.find(({ type }) => type === 'TXT')
    return `${record?.full_name}. TXT "${record?.value}"`
  }

  test('reports the records to set, those found and those missing, and allows one check a minute', async () => {
    const id = await create('links.acme.test')
    const before = await report(id)
    assert.deepEqual(Object.keys(before), [
      'domain',
      'unicode_domain',
      'status',
      'proof',
      'verdict',
      'records',
      'seen',
      'differences',
      'last_check_at',
      'next_check_at',
      'missing_since',
      'pending_from',
      'certificate',
    ])
    assert.equal(before.certificate, null)
    assert.equal(before.domain, 'links.acme.test')
    assert.equal(before.status, 'pending')
    assert.equal(before.verdict, 'unproved')
    const [txt, route, ...others] = before.records
    assert.deepEqual(others, [])
    assert.match(txt.value, /^terse-verify=[0-9a-f]{40}$/)
    assert.deepEqual(txt, {
      purpose: 'ownership',
      type: 'TXT',
      name: '_terse.links',
      full_name: '_terse.links.acme.test',
      value: txt.value,
    })
    assert.deepEqual(route, {
      purpose: 'routing',
      type: 'CNAME',
      name: 'links',
      full_name: 'links.acme.test',
      value: TARGET,
    })
    assert.deepEqual(codes(before), ['txt_missing', 'host_missing'])
    assert.ok(before.differences[0].text.includes(txt.value))
    assert.ok(before.differences[1].text.includes(TARGET))
    assert.equal((await visit(service.port, '/', { host: 'links.acme.test' })).status, 404)

    await setRecords(`links.acme CNAME ${TARGET}.`)
    const routed = await verify(id)
    assert.equal(routed.status, 'pending', 'routing without the TXT record proves nothing')
    assert.deepEqual(codes(routed), ['txt_missing'])
    assert.deepEqual(routed.seen.cname, [TARGET])

    await setRecords(txtLine(before))
    const seen = await report(id)
    assert.equal(seen.verdict, 'proved')
    assert.deepEqual(seen.differences, [])
    assert.deepEqual(seen.seen.txt, [txt.value])
    assert.deepEqual(seen.seen.a.toSorted(), ['192.0.2.10', '192.0.2.11'])
    assert.deepEqual(seen.seen.aaaa, ['2001:db8::10'])
    assert.equal(seen.status, 'pending', 'a report changes nothing')

    const early = expectProblem(await acme.post(`/domains/${id}/verify`, undefined), 'rate_limited')
    const seconds = Number(early.headers.get('retry-after'))
    assert.ok(seconds >= 1 && seconds <= 60, String(seconds))
  })

  test('shows an international domain in both forms', async () => {
    const shown = await report(await create('münchen.acme.test'))
    assert.equal(shown.domain, 'xn--mnchen-3ya.acme.test')
    assert.equal(shown.unicode_domain, 'münchen.acme.test')
  })

  test('checks a domain right after it is added', async () => {
    const first = await create('swift.acme.test')
    const line = txtLine(await report(first))
    await setRecords(line, 'swift.acme AAAA 2001:db8::10')
    expectStatus(await acme.delete(`/domains/${first}`), 200)
    const second = await create('swift.acme.test')
    await untilActive(second)
    const link = { domain: 'swift.acme.test', key: 'k', url: 'https://example.com/k' }
    expectStatus(await acme.post('/links', link), 201)
    const answer = await visit(service.port, '/k', { host: 'swift.acme.test' })
    assert.equal(answer.headers.location, 'https://example.com/k')
  })

  async function untilActive(id: string, api = acme): Promise<void> {
    await eventually(async () => {
      const { status } = expectStatus(await api.get(`/domains/${id}`), 200).body
      assert.equal(status, 'active')
    })
  }

  const SEEN: { host: string; expected: string[]; says?: RegExp }[] = [
    { host: 'unset.test', expected: ['host_missing'], says: /A @ → 192\.0\.2\.1[01]/ },
    { host: 'sub.unset.test', expected: ['host_missing'], says: /CNAME sub → go\.terse\.test/ },
    { host: 'loop.test', expected: ['host_looping'] },
    { host: 'dangling.test', expected: ['host_dangling'], says: /nowhere\.test/ },
    { host: 'elsewhere.test', expected: ['host_elsewhere'], says: /198\.51\.100\.1/ },
    { host: 'proxied.test', expected: ['host_proxied'], says: /Cloudflare/ },
    {
      host: 'stray.test',
      expected: ['stray_address'],
      says: /AAAA record.*2001:db8:bad::1|2001:db8:bad::1.*AAAA record/,
    },
    { host: 'six.test', expected: [] },
    { host: 'chain.test', expected: [] },
    { host: 'a.wild.test', expected: [] },
    { host: 'panel.test', expected: ['host_without_address'] },
    { host: 'acme.test', expected: [] },
  ]
  for (const { host, expected, says } of SEEN) {
    test(`reports ${expected.join() || 'no difference'} for ${host}`, async () => {
      const body = await report(await create(host))
      const differences = body.differences.filter(
        ({ code }: { code: string }) => !code.startsWith('txt_'),
      )
      assert.deepEqual(codes({ differences }), expected, JSON.stringify(body))
      if (says !== undefined) assert.match(differences[0].text, says)
      for (const { text } of body.differences) assert.match(text, /^[A-Z_a-z][^\n]+\.$/)
    })
  }

  test('does not accept a proof that an alias leads to', async () => {
    const id = await create('aliased.acme.test')
    const line = txtLine(await report(id))
    const value = line.slice(line.indexOf('TXT'))
    await setRecords(
      'aliased.acme A 192.0.2.10',
      '_terse.aliased.acme CNAME attacker',
      `attacker ${value}`,
    )
    const body = await verify(id)
    assert.deepEqual(codes(body), ['txt_aliased'])
    assert.equal(body.status, 'pending')
  })

  test('does not accept the proof of another workspace or another host', async () => {
    const globex = await service.api('globex')
    const mine = await create('shared.acme.test')
    const theirs = await create('shared.acme.test', globex)
    const other = await create('other.acme.test')
    const [myLine, theirLine, otherLine] = [
      txtLine(await report(mine)),
      txtLine(await report(theirs, globex)),
      txtLine(await report(other)),
    ]
    assert.equal(new Set([myLine, theirLine, otherLine]).size, 3)
    const foreign = otherLine.slice(otherLine.indexOf('TXT'))
    await setRecords(`shared.acme CNAME ${TARGET}.`, theirLine, `_terse.shared.acme ${foreign}`)
    assert.deepEqual(codes(await verify(mine)), ['txt_different'])
    assert.equal((await verify(theirs, globex)).status, 'active')
  })

  test('finds the proof among a hundred TXT records', async () => {
    const id = await create('many.acme.test')
    const line = txtLine(await report(id))
    const texts = Array.from(
      { length: 100 },
      (_, index) => `_terse.many.acme TXT "v=${index} ${'x'.repeat(100)}"`,
    )
    await setRecords('many.acme A 192.0.2.11', ...texts, line)
    const body = await verify(id)
    assert.equal(body.status, 'active')
    assert.equal(body.seen.txt.length, 20)
  })

  test('sends no DNS query for a name under .localhost', async () => {
    const body = await report(await create('tour.localhost'))
    assert.equal(body.status, 'active')
    assert.equal(body.verdict, 'proved')
    assert.deepEqual([body.records, body.differences], [[], []])
  })

  test('recommends addresses for an apex and an alias for a name below it', async () => {
    const { records } = await report(await create('apex.test'))
    assert.deepEqual(
      records
        .map(({ type, name, value }: Record<string, string>) =>
          type === 'TXT' ? [type, name] : [type, name, value],
        )
        .toSorted(),
      [
        ['A', '@', '192.0.2.10'],
        ['A', '@', '192.0.2.11'],
        ['AAAA', '@', '2001:db8::10'],
        ['TXT', '_terse'],
      ],
    )
  })
})
