import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Api } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'
import { type VisitAnswer, type VisitOptions, visit } from '../support/visit.ts'
import { AGENTS } from './agents.ts'
import { createLink, DESTINATION } from './create.ts'

const PASSWORD = 'sesame & ü'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

function pairOf(answer: VisitAnswer): string {
  const [cookie = '', ...others] = answer.headers['set-cookie'] ?? []
  assert.deepEqual(others, [])
  return cookie.split(';', 1)[0] ?? ''
}

for (const engine of ENGINES) {
  describe(`A link with a password, on ${engine.name}`, () => {
    let service: Service
    let api: Api
    before(async () => {
      service = await startService(engine, { TERSE_TRUST_PROXY: '127.0.0.1' })
      api = await service.api()
    })
    after(() => service.stop())

    const createProtected = (fields: Record<string, unknown> = {}) =>
      createLink(api, { password: PASSWORD, ...fields })

    // The tests stand behind a trusted proxy and give each visitor an address of its own.
    let visitors = 0
    const newAddress = () => {
      visitors += 1
      return `198.51.100.${visitors}`
    }

    function post(path: string, body: string, options: VisitOptions = {}): Promise<VisitAnswer> {
      const headers = { ...FORM, 'x-forwarded-for': newAddress(), ...options.headers }
      return visit(service.port, path, { ...options, method: 'POST', headers, body })
    }

    function type(path: string, text: string, options: VisitOptions = {}): Promise<VisitAnswer> {
      return post(path, new URLSearchParams({ password: text }).toString(), options)
    }

    const withCookie = (path: string, cookie: string) =>
      visit(service.port, path, { headers: { cookie } })

    test('asks for it, and tells nothing of where it leads', async () => {
      const { key } = await createProtected()
      const { status, headers, body } = await visit(service.port, `/${key}`)
      assert.equal(status, 200)
      assert.match(body, /<form method="post">/)
      assert.equal(headers.location, undefined)
      assert.equal(headers['set-cookie'], undefined)
      assert.ok(!body.includes(DESTINATION))
      assert.ok(!body.includes('role="alert"'), 'nothing is wrong yet')
    })

    test('lets the right password through, at once and without cookies', async () => {
      const { key } = await createProtected()
      const { status, headers, body } = await type(`/${key}`, PASSWORD)
      assert.equal(status, 303)
      assert.equal(headers.location, DESTINATION)
      assert.equal(headers['cache-control'], 'private, no-store')
      assert.equal(headers['referrer-policy'], 'strict-origin-when-cross-origin')
      assert.equal(headers['x-robots-tag'], 'noindex')
      assert.equal(body, '')
    })

    test('leads the visitor on by device, with the query that came', async () => {
      const { key } = await createProtected({ ios: 'https://ios.example/', utm_source: 'x' })
      const headers = { 'user-agent': AGENTS.iPhone }
      const answer = await type(`/${key}?a=1`, PASSWORD, { headers })
      assert.equal(answer.headers.location, 'https://ios.example/?utm_source=x&a=1')
    })

    for (const wrong of ['', 'sesame', `${PASSWORD} `, PASSWORD.toUpperCase()]) {
      test(`asks again after "${wrong}"`, async () => {
        const { key } = await createProtected()
        const { status, headers, body } = await type(`/${key}`, wrong)
        assert.equal(status, 403)
        assert.equal(headers.location, undefined)
        assert.equal(headers['set-cookie'], undefined)
        assert.match(body, /role="alert"[^>]*>That is not the password\./)
        assert.match(body, /<form method="post">/)
        assert.ok(wrong === '' || !body.includes(wrong), 'does not repeat what was typed')
      })
    }

    test('does not take the sealed form, which the API shows, for the password', async () => {
      const { key, password } = await createProtected()
      assert.equal((await type(`/${key}`, password)).status, 403)
    })

    const malformed: readonly [string, VisitOptions][] = [
      ['JSON', { headers: { 'content-type': 'application/json' }, body: '{"password":"x"}' }],
      ['a form without a type', { headers: { 'content-type': '' }, body: 'password=x' }],
      ['a form without the field', { body: 'pass=x' }],
      ['a form that is too long', { body: `password=${'x'.repeat(9_000)}` }],
    ]
    for (const [what, options] of malformed) {
      test(`refuses ${what}`, async () => {
        const { key } = await createProtected()
        const answer = await post(`/${key}`, options.body ?? '', options)
        assert.equal(answer.status, 400)
        assert.equal(answer.headers.location, undefined)
        assert.match(answer.body, /This request cannot be answered/)
      })
    }

    test('gives a cookie for this path alone, for ten minutes', async () => {
      const { key } = await createProtected({ key: 'deep/secret' })
      const answer = await type(`/${key}`, PASSWORD)
      assert.match(
        String(answer.headers['set-cookie']),
        /^terse_password=\d+\.[\w-]{43}; Path=\/deep\/secret; Max-Age=600; HttpOnly; SameSite=Lax$/,
      )
      const expires = Number(/=(\d+)\./.exec(pairOf(answer))?.[1])
      const expected = Date.now() / 1_000 + 600
      assert.ok(Math.abs(expires - expected) < 10, `${expires} is not about ${expected}`)
    })

    test('gives a cookie for encrypted connections where the proxy took one', async () => {
      const { key } = await createProtected()
      const headers = { 'x-forwarded-proto': 'https' }
      const answer = await type(`/${key}`, PASSWORD, { headers })
      assert.match(String(answer.headers['set-cookie']), /; Secure$/)
    })

    test('does not ask a visitor with the cookie again', async () => {
      const { key } = await createProtected()
      const cookie = pairOf(await type(`/${key}`, PASSWORD))
      const { status, headers } = await withCookie(`/${key}?a=1`, cookie)
      assert.equal(status, 302)
      assert.equal(headers.location, `${DESTINATION}?a=1`)
      assert.equal(headers['set-cookie'], undefined, 'which does not prolong it')
    })

    test('accepts no cookie of another link, even one with the same password', async () => {
      const one = await createProtected()
      const other = await createProtected()
      const cookie = pairOf(await type(`/${one.key}`, PASSWORD))
      const { status, headers } = await withCookie(`/${other.key}`, cookie)
      assert.equal(status, 200)
      assert.equal(headers.location, undefined)
    })

    test('accepts no cookie that was altered', async () => {
      const { key } = await createProtected()
      const cookie = pairOf(await type(`/${key}`, PASSWORD))
      const [, expires = '', signature = ''] = /=(\d+)\.(.*)$/.exec(cookie) ?? []
      const later = `terse_password=${Number(expires) + 600}.${signature}`
      for (const altered of [later, `${cookie.slice(0, -2)}AA`, 'terse_password=1', '']) {
        assert.equal((await withCookie(`/${key}`, altered)).status, 200, altered)
      }
    })

    test('accepts no cookie of an old password, and does not know that any more', async () => {
      const { id, key } = await createProtected()
      const cookie = pairOf(await type(`/${key}`, PASSWORD))
      await api.patch(`/links/${id}`, { password: 'another' })
      assert.equal((await withCookie(`/${key}`, cookie)).status, 200)
      assert.equal((await type(`/${key}`, PASSWORD)).status, 403)
      assert.equal((await type(`/${key}`, 'another')).status, 303)
    })

    test('accepts the cookie still after a change that kept the password', async () => {
      const { id, key, password } = await createProtected()
      const cookie = pairOf(await type(`/${key}`, PASSWORD))
      await api.patch(`/links/${id}`, { url: 'https://example.com/new', password })
      const { headers } = await withCookie(`/${key}`, cookie)
      assert.equal(headers.location, 'https://example.com/new')
    })

    test('is a link like others once the password is gone', async () => {
      const { id, key } = await createProtected()
      await api.patch(`/links/${id}`, { password: null })
      assert.equal((await visit(service.port, `/${key}`)).status, 302)
      assert.equal((await type(`/${key}`, PASSWORD)).status, 405)
    })
  })
}
