import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const LONGEST_LABEL = 'a'.repeat(63)
const LONGEST_NAME = `${LONGEST_LABEL}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`

/** The sent name and the stored one. */
const ACCEPTED: readonly (readonly [string, string])[] = [
  ['go.acme.test', 'go.acme.test'],
  ['Shop.ACME.test', 'shop.acme.test'],
  ['final-dot.acme.test.', 'final-dot.acme.test'],
  ['acme.co.uk', 'acme.co.uk'],
  ['1.acme.test', '1.acme.test'],
  ['a--b.acme.test', 'a--b.acme.test'],
  ['münchen.example', 'xn--mnchen-3ya.example'],
  ['ＦＵＬＬ.acme.test', 'full.acme.test'],
  ['FAß.acme.test', 'xn--fa-hia.acme.test'],
  ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
  ['XN--BCHER-KVA.acme.test', 'xn--bcher-kva.acme.test'],
  [`${LONGEST_LABEL}.acme.test`, `${LONGEST_LABEL}.acme.test`],
  [LONGEST_NAME, LONGEST_NAME],
]

const REFUSED: readonly unknown[] = [
  // Public suffixes.
  ...['com', 'co.uk', 'CO.UK.', 'github.io', 'xn--p1ai'],
  // Names without a dot.
  ...['localhost', 'intranet', '*'],
  // IP addresses, in every form that browsers accept.
  ...['127.0.0.1', '127.1', '0x7f.0.0.1', '0177.0.0.1', '2130706433', '1.2.3.4.5', 'go.123'],
  ...['１２７.０.０.１', '::1', '[::1]', '2001:db8::1'],
  // More than a host name.
  ...['go.acme.test:8080', 'go.acme.test:', 'https://go.acme.test', '//go.acme.test'],
  ...['go.acme.test/path', 'go.acme.test?q', 'go.acme.test#f', 'user@go.acme.test'],
  // Wildcards, and malformed host names.
  ...['*.acme.test', 'go.*.test', '', ' ', '.', '..', '.acme.test', 'go..acme.test'],
  ...['go.acme.test..', '-go.acme.test', 'go-.acme.test', 'go_links.acme.test', 'go acme.test'],
  ...[' go.acme.test', 'go%2eacme.test', 'go.acme.test\n', 'go\u0000.acme.test', '\ud800.test'],
  // Invalid international labels.
  ...[
    'xn--a.acme.test',
    'xn--zzzzzz99999.acme.test',
    'xn--.acme.test',
    '\u200d.acme.test',
    '\u202e.acme.test',
  ],
  // One character too many.
  ...[`a${LONGEST_LABEL}.acme.test`, `${LONGEST_NAME}d`, 'a.'.repeat(2000)],
  // Not text.
  ...[null, 7, true, ['go.acme.test'], { domain: 'go.acme.test' }],
]

describe('host names of domains', () => {
  let service: Service
  let api: Api
  before(async () => {
    service = await startService(SQLITE)
    api = await service.api()
  })
  after(() => service.stop())

  test('are stored in lower case and in A-label form', async () => {
    for (const [sent, stored] of ACCEPTED) {
      const { body } = expectStatus(await api.post('/domains', { domain: sent }), 201)
      assert.equal(body.domain, stored, sent)
      assert.equal((await api.get(`/domains/${body.id}`)).body.domain, stored, sent)
    }
  })

  test('return 422 unless they are a full host name and nothing else', async () => {
    const accepted: unknown[] = []
    for (const domain of REFUSED) {
      const answer = await api.post('/domains', { domain })
      if (answer.status === 201) accepted.push(domain)
      else expectProblem(answer, 'validation_failed', ['domain'])
    }
    assert.deepEqual(accepted, [])
  })

  test('return 422 for links as for domains', async () => {
    for (const domain of ['co.uk', '127.0.0.1', '*.acme.test', 'go.acme.test:8080']) {
      const answer = await api.post('/links', { domain, url: 'https://example.com/' })
      expectProblem(answer, 'validation_failed', ['domain'])
    }
  })

  test('are shown to visitors in both forms', async () => {
    const answer = await visit(service.port, '/', { host: 'xn--mnchen-3ya.example' })
    assert.equal(answer.status, 404)
    assert.match(answer.body, /münchen\.example \(xn--mnchen-3ya\.example\)/)
  })
})
