import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { compatToken } from '../support/compat.ts'
import { SQLITE } from '../support/engines.ts'
import { createLink } from '../support/links.ts'
import { type Service, startService } from '../support/service.ts'
import {
  expectRefused,
  NodeHttpClient,
  refusalOf,
  SHLINK_ERRORS,
  shlinkClient,
} from '../support/shlink.ts'

const URL_A = 'https://example.com/a'
const JSON_TYPE = { 'content-type': 'application/json' }

describe('clients of Shlink', () => {
  let service: Service
  let key: string
  before(async () => {
    service = await startService(SQLITE, { TERSE_RATE_LIMIT: '25' })
    key = await compatToken(service, 'compat:shlink')
  })
  after(() => service.stop())

  const send = async (path: string, init: RequestInit = {}) => {
    const headers = { connection: 'close', 'x-api-key': key, ...init.headers }
    const response = await fetch(service.baseUrl + path, { ...init, headers })
    return { response, text: await response.text() }
  }

  test('read the domains, and may change none', async () => {
    const client = shlinkClient(service, key, new NodeHttpClient())
    const redirects = {
      baseUrlRedirect: null,
      regular404Redirect: null,
      invalidShortUrlRedirect: null,
    }
    assert.deepEqual(await client.listDomains(), {
      data: [{ domain: 'localhost', isDefault: true, redirects }],
      defaultRedirects: redirects,
    })
    const edit = client.editDomainRedirects({ domain: 'localhost', baseUrlRedirect: URL_A })
    await expectRefused(edit, 403, 'forbidden-tag-operation')
    await expectRefused(client.mercureInfo(), 501, 'mercure-not-configured')
    await client.createShortUrl({ longUrl: URL_A, customSlug: 'node' })
    await client.deleteShortUrl({ shortCode: 'node' })
  })

  test('ask for the health without a key', async () => {
    const client = shlinkClient(service, '')
    const { status, version } = await client.health()
    assert.deepEqual({ status, version }, { status: 'pass', version: '5.1.0' })
    const { response } = await send('/rest/health')
    assert.match(response.headers.get('content-type') ?? '', /^application\/health\+json/)
    const host = `localhost:${service.port}`
    assert.equal((await client.health({ domain: host })).status, 'pass')
  })

  test('create a link as ShareX does, and in one step as text', async () => {
    const { response, text } = await send('/rest/v2/short-urls', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ longUrl: URL_A }),
    })
    assert.equal(response.status, 200)
    assert.match(JSON.parse(text).shortUrl, /\/[a-z0-9]+$/)
    const form = new URLSearchParams({ longUrl: URL_A, customSlug: 'form', 'tags[]': 'A' })
    const sent = await send('/rest/v3/short-urls', { method: 'POST', body: form })
    assert.deepEqual([JSON.parse(sent.text).shortCode, JSON.parse(sent.text).tags], ['form', ['a']])
    const query = new URLSearchParams({ apiKey: key, longUrl: URL_A, format: 'txt' })
    const short = await fetch(`${service.baseUrl}/rest/v3/short-urls/shorten?${query}`)
    assert.match(short.headers.get('content-type') ?? '', /^text\/plain/)
    assert.match(await short.text(), /^https:\/\/localhost\/[a-z0-9]+$/)
  })

  test('may be pages of another origin', async () => {
    const headers = {
      origin: 'https://app.shlink.io',
      'access-control-request-headers': 'x-api-key',
    }
    const preflight = await fetch(`${service.baseUrl}/rest/v3/short-urls`, {
      method: 'OPTIONS',
      headers: { ...headers, connection: 'close' },
    })
    assert.equal(preflight.status, 204)
    assert.equal(preflight.headers.get('access-control-allow-origin'), '*')
    assert.equal(preflight.headers.get('access-control-allow-headers'), 'x-api-key')
    const { response } = await send('/rest/v3/tags', { headers })
    assert.equal(response.headers.get('access-control-allow-origin'), '*')
    const refused = await send('/rest/v3/tags', { headers: { ...headers, 'x-api-key': 'x' } })
    assert.equal(refused.response.status, 401)
    assert.equal(refused.response.headers.get('access-control-allow-origin'), '*')
  })

  test('are refused without a key, with another token, and for links of others', async () => {
    const missing = await send('/rest/v3/tags', { headers: { 'x-api-key': '' } })
    assert.deepEqual(JSON.parse(missing.text).expectedHeaders, ['X-Api-Key'])
    for (const other of [
      'terse_unknown',
      await service.token('acme'),
      await compatToken(service, 'compat:kutt'),
    ]) {
      await expectRefused(shlinkClient(service, other).listTags(), 401, 'invalid-api-key')
    }
    await createLink(await service.api('globex'), { key: 'globex' })
    const found = shlinkClient(service, key).getShortUrl({ shortCode: 'globex' })
    await expectRefused(found, 404, 'short-url-not-found', { shortCode: 'globex' })
    const body = await send('/rest/v3/short-urls', {
      method: 'POST',
      body: '{',
      headers: JSON_TYPE,
    })
    assert.equal(JSON.parse(body.text).type, `${SHLINK_ERRORS}malformed-request-body`)
    const unknown = await send('/rest/v3/unknown')
    assert.deepEqual(JSON.parse(unknown.text), {
      title: 'Not Found',
      type: `${SHLINK_ERRORS}not-found`,
      detail: 'Cannot GET /rest/v3/unknown!',
      status: 404,
    })
  })

  test('are refused beyond the limit of requests, and where the API is off', async () => {
    const busy = shlinkClient(service, await compatToken(service, 'compat:shlink', 'busy'))
    for (let sent = 0; sent < 25; sent += 1) await busy.mercureInfo().catch(() => {})
    const { status, title } = await refusalOf(busy.listTags())
    assert.deepEqual({ status, title }, { status: 429, title: 'Too Many Requests' })
    const api = await service.api('acme')
    expectStatus(await api.put('/compat/shlink', { enabled: false }), 200)
    await expectRefused(shlinkClient(service, key).listTags(), 401, 'invalid-api-key')
    expectStatus(await api.put('/compat/shlink', { enabled: true }), 200)
  })
})
