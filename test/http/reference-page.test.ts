import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ENGINES } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'
import { type VisitAnswer, visit } from '../support/visit.ts'

const TYPES: Readonly<Record<string, RegExp>> = {
  js: /^(application|text)\/javascript/,
  css: /^text\/css/,
  png: /^image\/png/,
}

function policyOf(answer: VisitAnswer): ReadonlyMap<string, readonly string[]> {
  const header = String(answer.headers['content-security-policy'])
  return new Map(
    header.split(';').map((directive) => {
      const [name = '', ...sources] = directive.trim().split(/ +/)
      return [name, sources]
    }),
  )
}

// Storage has no part in this: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('the reference page', () => {
    let service: Service
    let page: VisitAnswer
    let origin: string
    before(async () => {
      service = await startService(engine)
      origin = `http://localhost:${service.port}`
      page = await visit(service.port, '/docs')
    })
    after(() => service.stop())

    /** What an HTML page loads, as absolute addresses. */
    const assetsOf = (html: string, address: string): URL[] =>
      [...html.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(
        (match) => new URL(match[1] ?? '', address),
      )

    test('is there at /docs and at /docs/', async () => {
      for (const path of ['/docs', '/docs/']) {
        const answer = await visit(service.port, path)
        assert.equal(answer.status, 200, path)
        assert.match(answer.headers['content-type'] ?? '', /^text\/html/)
        assert.equal(answer.headers['x-content-type-options'], 'nosniff')
      }
    })

    test('allows nothing but what comes from here', async () => {
      for (const path of ['/docs', '/docs/']) {
        const policy = policyOf(await visit(service.port, path))
        assert.deepEqual(policy.get('default-src'), ["'none'"])
        assert.deepEqual(policy.get('script-src'), ["'self'"])
        assert.deepEqual(policy.get('connect-src'), ["'self'"])
        assert.deepEqual(policy.get('base-uri'), ["'none'"])
        assert.deepEqual(policy.get('frame-ancestors'), ["'none'"])
        for (const [directive, sources] of policy) {
          for (const source of sources) {
            const known = ["'none'", "'self'", 'data:', "'unsafe-inline'"].includes(source)
            assert.ok(known, `${directive} ${source}`)
            if (source === "'unsafe-inline'") assert.equal(directive, 'style-src')
            if (source === 'data:') assert.equal(directive, 'img-src')
          }
        }
      }
    })

    test('holds no script or style of its own, which the policy would stop', () => {
      assert.doesNotMatch(page.body, /<script(?![^>]*\bsrc=)[^>]*>|\son\w+="|javascript:/i)
      assert.doesNotMatch(page.body, /<(?:iframe|object|embed|base)\b/i)
    })

    test('loads everything from here, and everything is there', async () => {
      for (const path of ['/docs', '/docs/']) {
        const { body } = await visit(service.port, path)
        const assets = assetsOf(body, origin + path)
        assert.ok(assets.length >= 3, body)
        for (const asset of assets) {
          assert.equal(asset.origin, origin, asset.href)
          const answer = await visit(service.port, asset.pathname)
          assert.equal(answer.status, 200, asset.href)
          const type = TYPES[asset.pathname.split('.').at(-1) ?? '']
          assert.match(answer.headers['content-type'] ?? '', type ?? /^$/, asset.href)
          assert.equal(answer.headers['x-content-type-options'], 'nosniff', asset.href)
        }
      }
    })

    test('has styles that load nothing from elsewhere', async () => {
      const styles = assetsOf(page.body, origin).filter(({ pathname }) => pathname.endsWith('.css'))
      assert.ok(styles.length > 0)
      for (const { pathname } of styles) {
        const { body } = await visit(service.port, pathname)
        assert.doesNotMatch(body, /@import|url\(\s*["']?(?:https?:)?\/\//i, pathname)
      }
    })

    test('starts with an address of here, and asks no outside validator', async () => {
      const { body } = await visit(service.port, '/docs/static/swagger-initializer.js')
      assert.match(body, /validatorUrl: null/)
      const withoutPictures = body.replaceAll(/data:[^'"]+/g, '').replaceAll(/^\s*\/\/.*$/gm, '')
      assert.doesNotMatch(withoutPictures, /https?:\/\//)
    })

    test('reads the description that the API serves', async () => {
      const shown = await visit(service.port, '/docs/json')
      const served = await visit(service.port, '/api/v1/openapi.json')
      assert.deepEqual(JSON.parse(shown.body), JSON.parse(served.body))
    })

    test('is not there on a link host, nor is anything beside it', async () => {
      for (const path of ['/docs', '/docs/static/swagger-ui.css', '/api/v1/openapi.json']) {
        assert.equal((await visit(service.port, path, { host: 'go.acme.test' })).status, 404, path)
      }
      for (const path of [
        '/docs/nothing',
        '/docs/static/nothing.js',
        '/docs/static/../../package.json',
        '/docs/static/%2e%2e/%2e%2e/package.json',
      ]) {
        const answer = await visit(service.port, path)
        assert.ok(answer.status >= 400 && answer.status < 500, `${path}: ${answer.status}`)
        assert.doesNotMatch(answer.body, /dependencies/)
      }
    })
  })
}
