import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { type Api, expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { type DestinationServer, startDestination } from '../support/destination-server.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

/** Exists in the browser; this file is compiled without the types of a page. */
declare function getComputedStyle(node: unknown): { readonly fontSize: string }

const PHONE = { width: 360, height: 640 }

describe('a visitor with Chromium', { skip: skipWithout('chromium') }, () => {
  let browser: Browser
  let service: Service
  let api: Api
  let destination: DestinationServer

  before(async () => {
    browser = await launchChromium()
    service = await startService(SQLITE)
    api = await service.api()
    destination = await startDestination()
  })
  after(async () => {
    await browser.close()
    await destination.close()
    await service.stop()
  })

  /** A page on a phone without JavaScript, and its requests to other hosts. */
  async function openPage(): Promise<{ page: Page; foreign: string[] }> {
    const context = await browser.newContext({ viewport: PHONE, javaScriptEnabled: false })
    const page = await context.newPage()
    const foreign: string[] = []
    page.on('request', (request) => {
      const { hostname } = new URL(request.url())
      if (!/(^|\.)localhost$|^127\.0\.0\.1$/.test(hostname)) foreign.push(request.url())
    })
    return { page, foreign }
  }

  async function createLink(fields: Record<string, unknown>): Promise<{ id: string; key: string }> {
    const link = { domain: 'go.localhost', url: `${destination.origin}/arrived`, ...fields }
    return expectStatus(await api.post('/links', link), 201).body
  }

  const addressOf = (key: string, host = 'go.localhost') => `http://${host}:${service.port}/${key}`

  test('reaches the destination and is counted', async () => {
    const link = await createLink({ utm_source: 'poster' })
    const { page } = await openPage()
    await page.goto(addressOf(link.key))
    assert.equal(page.url(), `${destination.origin}/arrived?utm_source=poster`)
    await eventually(async () => {
      const { body } = await api.get(`/links/${link.id}`)
      assert.equal(body.clicks, 1)
    })
  })

  test('enters a password without JavaScript: a wrong one, then the right one', async () => {
    const link = await createLink({ password: 'sesame street' })
    const { page, foreign } = await openPage()
    await page.goto(addressOf(link.key))
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Continue' }).click()
    assert.equal(
      await page.getByRole('alert').innerText(),
      'That password is incorrect. Please try again.',
    )

    await page.getByLabel('Password').fill('sesame street')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL(`${destination.origin}/arrived`)

    await page.goto(addressOf(link.key))
    assert.equal(
      page.url(),
      `${destination.origin}/arrived`,
      'the password is not requested a second time',
    )
    assert.deepEqual(foreign, [])
  })

  for (const [name, status, title, visit] of [
    [
      'an unknown key',
      404,
      'There is no link at this address',
      async () => addressOf('nothing-here', 'localhost'),
    ],
    [
      'an unknown host',
      404,
      'This domain is not in use here',
      async () => addressOf('x', 'unknown.localhost'),
    ],
    [
      'an expired link',
      410,
      'This link has expired',
      async () => addressOf((await createLink({ expires_at: '2020-01-01T00:00:00Z' })).key),
    ],
  ] as const) {
    test(`sees a page that fits a phone for ${name}`, async () => {
      const { page, foreign } = await openPage()
      const answer = await page.goto(await visit())
      assert.equal(answer?.status(), status)
      assert.equal(await page.title(), title)
      const heading = page.getByRole('heading', { level: 1 })
      assert.equal(await heading.innerText(), title)
      const box = await heading.boundingBox()
      assert.ok(box !== null && box.x >= 0 && box.x + box.width <= PHONE.width)
      const fontSize = await heading.evaluate((node) => getComputedStyle(node).fontSize)
      assert.equal(fontSize, '24px', 'the policy allows the page’s own style')
      assert.deepEqual(foreign, [])
    })
  }

  test('sees the API reference, which loads nothing from other hosts', async () => {
    const page = await browser.newPage()
    const failures: string[] = []
    const foreign: string[] = []
    page.on('pageerror', (error) => failures.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') failures.push(message.text())
    })
    page.on('request', (request) => {
      const url = new URL(request.url())
      if (url.protocol !== 'data:' && url.hostname !== 'localhost') foreign.push(request.url())
    })
    await page.goto(`http://localhost:${service.port}/docs`)
    await page.getByText('Create link').waitFor()
    assert.deepEqual(foreign, [])
    assert.deepEqual(failures, [])
    await page.close()
  })
})
