import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { type DestinationServer, startDestination } from '../support/destination-server.ts'
import { SQLITE } from '../support/engines.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

type Call = {
  readonly method?: string
  readonly path: string
  readonly body?: object
  readonly credentials?: 'include'
}

describe('the API from a page of another origin, in Chromium', {
  skip: skipWithout('chromium'),
}, () => {
  let browser: Browser
  let service: Service
  let site: DestinationServer
  let page: Page
  let token: string
  before(async () => {
    browser = await launchChromium()
    service = await startService(SQLITE, { TERSE_RATE_LIMIT: '600' })
    site = await startDestination()
    token = await service.token()
    page = await browser.newPage()
    await page.goto(site.origin)
  })
  after(async () => {
    await browser.close()
    await site.close()
    await service.stop()
  })

  function call({ path, method = 'GET', body, credentials }: Call) {
    const init = {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': `${method} ${path}`.replaceAll(/\W/g, ''),
        'if-none-match': '"unknown"',
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(credentials && { credentials }),
    }
    const target = { url: `${service.baseUrl}${path}`, init }
    return page.evaluate(async ({ url, init }) => {
      const response = await fetch(url, init)
      const remaining = response.headers.get('ratelimit-remaining')
      return { status: response.status, remaining, text: await response.text() }
    }, target)
  }

  test('creates and reads links with a token, and exposes the rate limit', async () => {
    const body = { domain: 'localhost', url: 'https://example.com/' }
    const created = await call({ method: 'POST', path: '/api/v1/links', body })
    assert.equal(created.status, 201, created.text)
    assert.ok(Number(created.remaining) > 0)
    const { id } = JSON.parse(created.text)
    assert.equal((await call({ path: `/api/v1/links/${id}` })).status, 200)
    assert.equal((await call({ method: 'DELETE', path: `/api/v1/links/${id}` })).status, 200)
  })

  test('exposes the reason for a refusal', async () => {
    assert.equal((await call({ path: '/api/v1/nothing' })).status, 404)
    const refused = await call({ method: 'DELETE', path: '/api/v1/links' })
    assert.equal(JSON.parse(refused.text).code, 'method_not_allowed')
  })

  test('refuses cookies, and paths outside the API', async () => {
    await assert.rejects(call({ path: '/api/v1/links', credentials: 'include' }), /Failed to fetch/)
    await assert.rejects(call({ path: '/livez' }), /Failed to fetch/)
  })
})
