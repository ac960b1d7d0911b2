import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SQLITE } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'
import { type VisitAnswer, type VisitOptions, visit } from '../support/visit.ts'
import { createDomain, createLink, DESTINATION } from './create.ts'

const HOST = 'go.localhost'

/** Headers of every answer to a visitor; `connection` follows from the test’s request. */
const ALWAYS = {
  'cache-control': 'private, no-store',
  'x-robots-tag': 'noindex',
  'referrer-policy': 'strict-origin-when-cross-origin',
  connection: 'close',
}

const PAGES: readonly { name: string; host?: string; path: string; status: number }[] = [
  { name: 'an unknown host', host: 'nobody.example', path: '/x', status: 404 },
  { name: 'an unknown key', path: '/no', status: 404 },
  { name: 'an expired link', path: '/expired', status: 410 },
  { name: 'a link with a password', path: '/secret', status: 200 },
]

describe('answers to visitors', () => {
  let service: Service
  before(async () => {
    service = await startService(SQLITE)
    const api = await service.api()
    for (const link of [
      { key: 'plain' },
      { key: 'expired', expires_at: '2020-01-01T00:00:00Z' },
      { key: 'secret', password: 'sesame' },
    ]) {
      await createLink(api, { domain: HOST, ...link })
    }
    await createDomain(api, { domain: 'full.localhost', not_found_url: 'https://d.example/' })
  })
  after(() => service.stop())

  const at = (path: string, options: VisitOptions = {}) =>
    visit(service.port, path, { host: HOST, ...options })

  function withoutDate({ headers }: VisitAnswer): object {
    const { date, ...others } = headers
    assert.ok(date !== undefined)
    return others
  }

  test('a redirect carries its headers and no others', async () => {
    const answer = await at('/plain')
    assert.equal(answer.status, 302)
    assert.deepEqual(withoutDate(answer), {
      ...ALWAYS,
      location: DESTINATION,
      'content-length': '0',
    })
  })

  test('a redirect to a fallback URL carries the same headers', async () => {
    const answer = await at('/no', { host: 'full.localhost' })
    assert.equal(answer.status, 302)
    assert.deepEqual(withoutDate(answer), {
      ...ALWAYS,
      location: 'https://d.example/',
      'content-length': '0',
    })
  })

  for (const { name, host = HOST, path, status } of PAGES) {
    test(`the page for ${name} carries its headers and no others`, async () => {
      const answer = await at(path, { host })
      assert.equal(answer.status, status)
      const policy = answer.headers['content-security-policy']
      assert.match(String(policy), /^default-src 'none'; /)
      assert.deepEqual(withoutDate(answer), {
        ...ALWAYS,
        'content-type': 'text/html; charset=utf-8',
        'content-language': 'en',
        vary: 'Accept-Language',
        'content-length': String(Buffer.byteLength(answer.body)),
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
      })
    })
  }

  for (const connection of ['close', 'keep-alive']) {
    test(`pages are in the visitor’s language, with Connection: ${connection}`, async () => {
      const languages = { 'accept-language': 'sv, de-AT;q=0.8, en;q=0.5', connection }
      for (const { path, host = HOST, status } of PAGES) {
        const answer = await at(path, { host, headers: languages })
        assert.equal(answer.status, status)
        assert.equal(answer.headers['content-language'], 'de')
        assert.equal(answer.headers['content-length'], String(Buffer.byteLength(answer.body)))
        assert.match(answer.body, /<html lang="de">/)
      }
      const redirect = await at('/plain', { headers: languages })
      assert.equal(redirect.headers.vary, undefined, 'a redirect has no language')
    })
  }

  for (const { name, path, host = HOST } of [{ name: 'a link', path: '/plain' }, ...PAGES]) {
    test(`HEAD of ${name} returns the same as GET, without a body`, async () => {
      const get = await at(path, { host })
      const head = await at(path, { host, method: 'HEAD' })
      assert.equal(head.status, get.status)
      assert.deepEqual(withoutDate(head), withoutDate(get))
      assert.equal(head.body, '')
    })
  }

  const methods = ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'POST']
  for (const method of methods) {
    test(`${method} at a link returns 405`, async () => {
      const answer = await at('/plain', { method })
      assert.equal(answer.status, 405)
      assert.equal(answer.headers.allow, 'GET, HEAD')
      assert.equal(answer.headers.location, undefined)
      assert.equal(answer.headers['cache-control'], 'private, no-store')
    })
  }

  test('a form sent to a link that is gone or expired gets what a visit gets', async () => {
    for (const [host, path, status] of [
      [HOST, '/no', 404],
      [HOST, '/expired', 410],
      ['full.localhost', '/no', 302],
    ] as const) {
      const answer = await at(path, { host, method: 'POST', body: 'password=x' })
      assert.equal(answer.status, status, path)
    }
  })
})
