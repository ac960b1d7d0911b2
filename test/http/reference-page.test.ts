import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { SQLITE } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'
import { type VisitAnswer, visit } from '../support/visit.ts'

const TYPES: Readonly<Record<string, RegExp>> = {
  js: /^(application|text)\/javascript/,
  css: /^text\/css/,
  svg: /^image\/svg\+xml/,
}

const UNREAD_CONNECTIONS = 20
const UNREAD_ANSWERS = 10
/** The unread answers amount to some 250 MB. */
const GROWN_BYTES_MAX = 32 * 1024 * 1024

function policyOf(answer: VisitAnswer): ReadonlyMap<string, readonly string[]> {
  const header = String(answer.headers['content-security-policy'])
  return new Map(
    header.split(';').map((directive) => {
      const [name = '', ...sources] = directive.trim().split(/ +/)
      return [name, sources]
    }),
  )
}

describe('the reference page', () => {
  let service: Service
  let page: VisitAnswer
  let origin: string
  before(async () => {
    service = await startService(SQLITE)
    origin = `http://localhost:${service.port}`
    page = await visit(service.port, '/docs')
  })
  after(() => service.stop())

  /** The absolute URLs of everything that an HTML page loads. */
  const assetsOf = (html: string, address: string): URL[] =>
    [...html.matchAll(/<(?:script|link)\b[^>]*\b(?:src|href)="([^"]*)"/g)].map(
      (match) => new URL(match[1] ?? '', address),
    )

  test('is served at /docs and at /docs/', async () => {
    for (const path of ['/docs', '/docs/']) {
      const answer = await visit(service.port, path)
      assert.equal(answer.status, 200, path)
      assert.match(answer.headers['content-type'] ?? '', /^text\/html/)
      assert.equal(answer.headers['x-content-type-options'], 'nosniff')
    }
  })

  test('has a policy that allows only the service’s own resources', async () => {
    for (const path of ['/docs', '/docs/']) {
      const policy = policyOf(await visit(service.port, path))
      assert.deepEqual(policy.get('default-src'), ["'none'"])
      assert.deepEqual(policy.get('script-src'), ["'self'"])
      assert.deepEqual(policy.get('form-action'), ["'none'"])
      assert.deepEqual(policy.get('base-uri'), ["'none'"])
      assert.deepEqual(policy.get('frame-ancestors'), ["'none'"])
      for (const [directive, sources] of policy) {
        for (const source of sources) {
          assert.ok(["'none'", "'self'"].includes(source), `${directive} ${source}`)
        }
      }
    }
  })

  test('contains no inline script or style, which the policy would block', () => {
    assert.doesNotMatch(page.body, /<script(?![^>]*\bsrc=)[^>]*>|\son\w+="|javascript:/i)
    assert.doesNotMatch(page.body, /<(?:iframe|object|embed|base|style)\b|\sstyle=/i)
  })

  test('loads only the service’s own files, and all of them exist', async () => {
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

  test('has styles that load nothing from other hosts', async () => {
    const styles = assetsOf(page.body, origin).filter(({ pathname }) => pathname.endsWith('.css'))
    assert.ok(styles.length > 0)
    for (const { pathname } of styles) {
      const { body } = await visit(service.port, pathname)
      assert.doesNotMatch(body, /@import|url\(\s*["']?(?:https?:)?\/\//i, pathname)
    }
  })

  test('is revalidated each time, and its files are immutable', async () => {
    assert.equal(page.headers['cache-control'], 'no-cache')
    const headers = { 'if-none-match': String(page.headers.etag) }
    assert.equal((await visit(service.port, '/docs', { headers })).status, 304)
    for (const { pathname } of assetsOf(page.body, origin)) {
      const answer = await visit(service.port, pathname, { method: 'HEAD' })
      assert.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable')
      assert.equal((await visit(service.port, pathname, { headers })).status, 200)
    }
  })

  test('reads the OpenAPI document again only when it has changed', async () => {
    const { headers } = await visit(service.port, '/api/v1/openapi.json')
    assert.equal(headers['cache-control'], 'no-cache')
    const known = { 'if-none-match': String(headers.etag) }
    const again = await visit(service.port, '/api/v1/openapi.json', { headers: known })
    assert.equal(again.status, 304)
    assert.equal(again.body, '')
  })

  test('keeps one copy of a file for all unread answers', async () => {
    const request = `GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n`
    const before = process.memoryUsage().arrayBuffers
    const sockets = await Promise.all(
      Array.from({ length: UNREAD_CONNECTIONS }, async () => {
        const socket = connect({ host: '127.0.0.1', port: service.port })
        socket.on('error', () => {})
        await once(socket, 'connect')
        socket.write(request.repeat(UNREAD_ANSWERS))
        return socket
      }),
    )
    try {
      // The server has received the requests above before this one.
      await visit(service.port, '/docs')
      const grown = process.memoryUsage().arrayBuffers - before
      assert.ok(grown < GROWN_BYTES_MAX, `${grown} bytes more`)
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  })

  test('returns 404 on a link host, and for unknown paths below it', async () => {
    for (const path of ['/docs', '/api/v1/openapi.json']) {
      assert.equal((await visit(service.port, path, { host: 'go.acme.test' })).status, 404, path)
    }
    for (const path of ['/docs/nothing', '/docs/../package.json', '/docs/%2e%2e/package.json']) {
      const answer = await visit(service.port, path)
      assert.ok(answer.status >= 400 && answer.status < 500, `${path}: ${answer.status}`)
      assert.doesNotMatch(answer.body, /dependencies/)
    }
  })
})
