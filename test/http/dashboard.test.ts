import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import fastify from 'fastify'
import { Compressor } from '../../src/platform/http/compression/compressor.ts'
import { dashboard } from '../../src/platform/http/dashboard/dashboard.ts'
import { SQLITE } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'
import { type VisitAnswer, visit } from '../support/visit.ts'

describe('the dashboard', () => {
  let service: Service
  let page: VisitAnswer
  before(async () => {
    service = await startService(SQLITE)
    page = await visit(service.port, '/app')
  })
  after(() => service.stop())

  const assets = () =>
    [...page.body.matchAll(/(?:src|href)="(\/app\/[^"]+)"/g)].map(([, url = '']) => url)

  test('is one page at every path below /app, checked with the service each time', async () => {
    for (const path of ['/app', '/app/', '/app/links', '/app/links/x/edit?page=2']) {
      const answer = await visit(service.port, path)
      assert.equal(answer.status, 200, path)
      assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
      assert.equal(answer.headers['cache-control'], 'no-cache')
      assert.equal(answer.body, page.body)
      const headers = { 'if-none-match': String(answer.headers.etag) }
      assert.equal((await visit(service.port, path, { headers })).status, 304)
    }
  })

  test('has a policy that allows only files of the service, and no inline script or style', async () => {
    const policy = String(page.headers['content-security-policy'])
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
    assert.doesNotMatch(policy, /unsafe|\*|https?:/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(page.body, /<script(?![^>]* src=)|<style|style="/)
  })

  test('has files whose names change with their content, compressed before the start', async () => {
    assert.ok(assets().length >= 4)
    for (const url of assets()) {
      assert.match(url, /^\/app\/assets\/[\w.-]+-[\w-]{8}\.\w+$/)
      const plain = await visit(service.port, url)
      assert.equal(plain.status, 200, url)
      assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
      if (!/^text\//.test(plain.headers['content-type'] ?? '')) continue
      for (const coding of ['br', 'gzip']) {
        // `fetch` decompresses what it gets.
        const headers = { 'accept-encoding': coding }
        const answer = await fetch(`${service.baseUrl}${url}`, { headers })
        const isShort = plain.body.length < 1_024
        assert.equal(answer.headers.get('content-encoding'), isShort ? null : coding)
        assert.equal(await answer.text(), plain.body)
      }
    }
  })

  test('has the licences of the packages that it contains', async () => {
    const answer = await visit(service.port, '/app/licences.txt')
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(answer.headers['cache-control'], 'no-cache')
    const packages = ['react', 'react-dom', 'scheduler', 'lucide', 'tailwindcss', 'world-atlas']
    for (const name of [...packages, '@fontsource-variable/geist', '@tanstack/react-query']) {
      assert.match(
        answer.body,
        new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(.+\\)\\n\\n.*(?:licen|copy)`, 'im'),
      )
    }
    assert.doesNotMatch(answer.body, /^(?:fastify|typescript) /m)
  })

  test('answers 404 for a file that is not in the build', async () => {
    for (const path of ['/app/assets/index-00000000.js', '/app/assets/..%2findex.html']) {
      assert.equal((await visit(service.port, path)).status, 404, path)
    }
  })

  test('is not on the hosts of links', async () => {
    assert.equal((await visit(service.port, '/app', { host: 'go.acme.test' })).status, 404)
  })
})

test('a dashboard that is not built says how to build it, and is found once it is', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'terse-dashboard-'))
  t.after(() => rm(folder, { recursive: true }))
  const compressor = new Compressor(assert.ifError)
  const app = fastify()
  t.after(() => Promise.all([app.close(), compressor.close()]))
  await app.register(dashboard, { compressor, folder: `${folder}/dist` })
  const before = await app.inject('/app/links')
  assert.equal(before.statusCode, 503)
  assert.match(before.body, /npm ci --include=dev &amp;&amp; npm run build/)
  assert.match(String(before.headers['content-security-policy']), /^default-src 'none'/)
  await mkdir(`${folder}/dist`)
  await writeFile(`${folder}/dist/index.html`, '<title>Terse</title>')
  const after = await app.inject('/app/links')
  assert.equal(after.statusCode, 200)
  assert.equal(after.body, '<title>Terse</title>')
})
