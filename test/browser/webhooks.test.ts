import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectAccessible, expectNoSidewaysScroll } from '../support/accessibility.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { type DashboardOptions, inDashboard } from '../support/dashboard.ts'
import { SQLITE } from '../support/engines.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

const PATH = '/settings/webhooks'

describe('webhooks in Chromium', { skip: skipWithout('chromium') }, () => {
  let browser: Browser
  let service: Service
  let receiver: WebhookReceiver
  let api: Api
  before(async () => {
    browser = await launchChromium()
    service = await startService(SQLITE, { TERSE_WEBHOOK_ALLOW: '127.0.0.0/8' })
    receiver = await startReceiver()
    api = await service.api()
  })
  after(async () => {
    await browser.close()
    await receiver.close()
    await service.stop()
  })

  const on = (path: string, use: (page: Page) => Promise<void>, options?: DashboardOptions) =>
    inDashboard(browser, service, path, use, options)

  test('are added from the empty list, whose secret stays until it was seen', async () => {
    await on(PATH, async (page) => {
      await page.getByText(/curl http.*\/api\/v1\/webhooks/).waitFor()
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Visitors' }).click()
      await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url)
      const listed = page.waitForResponse(
        async (response) =>
          /\/api\/v1\/webhooks\?/.test(response.url()) && (await response.json()).data.length === 1,
      )
      await page.keyboard.press('Enter')
      await listed
      await page.getByText('The secret of the endpoint').waitFor()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('link', { name: new URL(receiver.url).host }).waitFor()
    })
    const [webhook] = expectStatus(await api.get('/webhooks'), 200).body.data
    assert.deepEqual(webhook.events, ['link.clicked', 'conversion.recorded'])
    expectStatus(await api.delete(`/webhooks/${webhook.id}`), 200)
  })

  test('are added, tested, changed, rotated and duplicated', async () => {
    expectStatus(await api.post('/webhooks', { url: receiver.url, events: ['job.finished'] }), 201)
    await on(PATH, async (page) => {
      await page.getByRole('button', { name: 'Add endpoint' }).press('Enter')
      await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url)
      await page.getByRole('textbox', { name: 'Name' }).fill('Shop backend')
      await page.getByRole('checkbox', { name: 'Clicks, in batches' }).check()
      await page.keyboard.press('Enter')
      await page.getByText('The secret of the endpoint').waitFor()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('link', { name: 'Shop backend' }).click()
      await page.getByText('Nothing sent yet.').waitFor()
      await page.getByRole('button', { name: 'Send a test' }).click()
      await page.getByText(/Test: 204 in/).waitFor()
      await page.getByRole('button', { name: /204.*Test/ }).press('Enter')
      await page.getByText('POST http://127.0.0.1').waitFor()
      await expectAccessible(page)
      const event = page.getByRole('combobox', { name: 'Event' })
      await event.selectOption('Clicks, in batches')
      await page.getByText('No attempt of these.').waitFor()
      await event.selectOption('Test')
      await page.getByRole('button', { name: /204.*Test/ }).waitFor()
      await page.getByRole('button', { name: 'Failed' }).click()
      await page.getByText('No attempt of these.').waitFor()
      await page.getByRole('button', { name: 'Replay a period' }).click()
      await page.getByRole('textbox', { name: 'From' }).fill('2026-01-01T00:00')
      await page.getByText('0 calls').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('checkbox', { name: /Keep the order/ }).check()
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Saved').waitFor()
      await page.getByRole('button', { name: 'Rotate' }).click()
      await page.getByText('The secret of the endpoint').waitFor()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByText(/old, signs as well until/).waitFor()
      await page.getByRole('button', { name: 'Actions for Shop backend' }).press('Enter')
      await page.getByRole('menuitem', { name: 'Duplicate' }).press('Enter')
      await page.getByText('New endpoint').waitFor()
      await page.getByRole('textbox', { name: 'Name' }).press('Enter')
      await page.getByText('The secret of the endpoint').waitFor()
      await page.getByRole('button', { name: 'Done' }).click()
    })
    const { data } = expectStatus(await api.get('/webhooks'), 200).body
    const byName = (name: string) => data.find((each: { name: string }) => each.name === name)
    const webhook = byName('Shop backend')
    const copy = byName('Copy of Shop backend')
    assert.deepEqual([webhook.ordered, webhook.old_secret !== null], [true, true])
    assert.deepEqual([copy.url, copy.events, copy.ordered], [webhook.url, webhook.events, true])
    assert.notEqual(copy.secret_hint, webhook.secret_hint)
  })

  test('say what is wrong, and can be switched on again, on a phone and in German', async () => {
    for (const { id } of expectStatus(await api.get('/webhooks'), 200).body.data) {
      expectStatus(await api.delete(`/webhooks/${id}`), 200)
    }
    receiver.answer = () => ({ status: 410 })
    const created = { url: receiver.url, events: ['link.created'], name: 'Old CRM' }
    const { id } = expectStatus(await api.post('/webhooks', created), 201).body
    await api.post('/links', { domain: 'localhost', url: 'https://example.com/' })
    await on(
      `${PATH}/${id}`,
      async (page) => {
        await page
          .getByText(/Abgeschaltet: Antwort 410/)
          .first()
          .waitFor()
        await expectNoSidewaysScroll(page)
        await expectAccessible(page)
        receiver.answer = () => undefined
        await page.getByRole('button', { name: 'Test senden, dann einschalten' }).click()
        await page.getByText('Eingeschaltet', { exact: true }).waitFor()
      },
      { locale: 'de-DE', width: 390, height: 844 },
    )
    receiver.answer = () => ({ status: 503 })
    await api.post('/links', { domain: 'localhost', url: 'https://example.com/' })
    await on(`${PATH}/${id}`, async (page) => {
      await page.getByText(/again in \d:\d\d/).waitFor()
    })
    await on(PATH, async (page) => {
      await page.getByRole('link', { name: /^Webhooks.*Need attention: *1$/ }).waitFor()
      await page.getByRole('link', { name: 'Old CRM' }).waitFor()
      await expectNoSidewaysScroll(page)
      await expectAccessible(page)
    })
  })
})
