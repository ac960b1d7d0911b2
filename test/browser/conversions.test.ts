import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectAccessible, expectNoSidewaysScroll } from '../support/accessibility.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { type DashboardOptions, inDashboard } from '../support/dashboard.ts'
import { SQLITE } from '../support/engines.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const PATH = '/analytics/conversions'

describe('conversions in Chromium', { skip: skipWithout('chromium') }, () => {
  let browser: Browser
  let service: Service
  let api: Api
  before(async () => {
    browser = await launchChromium()
    service = await startService(SQLITE)
    api = await service.api()
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  const on = (path: string, use: (page: Page) => Promise<void>, options?: DashboardOptions) =>
    inDashboard(browser, service, path, use, options)

  /** What the site of the customer gets. */
  async function tokenAt(path: string, parameter = 'tc'): Promise<string> {
    const { headers } = await visit(service.port, path)
    return new URL(headers.location ?? '').searchParams.get(parameter) ?? ''
  }

  const report = async (token: string, more: object) =>
    expectStatus(await api.post('/conversions', { token, event: 'order', ...more }), 200)

  test('are switched on, reported by the shop, and seen without a reload', async () => {
    const shop = { domain: 'localhost', key: 'shop', url: 'https://shop.example.com/' }
    expectStatus(await api.post('/links', shop), 201)
    assert.equal(await tokenAt('/shop'), '')
    await on('/analytics', async (page) => {
      await page.getByRole('link', { name: 'Conversions' }).click()
      await page.getByRole('heading', { name: 'See which link brought the order' }).waitFor()
      await page.getByRole('button', { name: 'All links' }).press('Enter')
      await page.getByRole('img', { name: 'Done:' }).waitFor()
      await page.getByRole('button', { name: 'Python' }).click()
      await page
        .getByText(`requests.post('${new URL(page.url()).origin}/api/v1/conversions'`)
        .waitFor()
      await expectAccessible(page)
      const token = await tokenAt('/shop')
      await report(token, { value: 7490, currency: 'EUR' })
      await report(token, { value: 500, currency: 'JPY' })
      await report(token, { value: -490, currency: 'EUR' })
      await page.getByRole('row', { name: 'localhost/shop' }).first().waitFor()
      const refunds = page.getByRole('table', { name: 'Refunds' })
      await refunds.getByText('-4.90').waitFor()
      await page.getByRole('row', { name: 'EUR Euro' }).getByText('70.00').waitFor()
      await page.getByRole('row', { name: 'JPY Japanese Yen' }).getByText('500').waitFor()
      await expectAccessible(page)
    })
  })

  test('are filtered, drawn in another currency, and saved as CSV', async () => {
    await report(await tokenAt('/shop?via=mail'), { event: 'sign-up' })
    await on(PATH, async (page) => {
      await page.getByRole('slider', { name: /^Value, EUR by day/ }).waitFor()
      await page.getByRole('button', { name: 'JPY' }).press('Enter')
      const chart = page.getByRole('slider', { name: /^Value, JPY by day/ })
      await chart.press('End')
      assert.match((await chart.getAttribute('aria-valuetext')) ?? '', /Value, JPY 500 JPY/)
      await page.getByRole('tab', { name: 'Labels' }).click()
      await page.getByRole('link', { name: 'mail', exact: true }).click()
      await page.waitForURL(/label=mail/)
      await page.getByRole('row', { name: 'sign-up 1', exact: true }).waitFor()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'All as CSV' }).click(),
      ])
      const [head = '', ...rows] = (await readFile(await download.path(), 'utf8'))
        .trim()
        .split('\n')
      assert.match(head, /^"id","event","value","currency"/)
      assert.deepEqual([rows.length, /,"sign-up","","",/.test(rows[0] ?? '')], [1, true])
    })
  })

  test('have settings in the workspace and in a domain, and figures at their link', async () => {
    await on('/settings/general', async (page) => {
      const section = page.getByRole('region', { name: 'Conversions' })
      await section.getByRole('spinbutton', { name: 'Window in days' }).fill('90')
      await section.getByRole('textbox', { name: 'Parameter' }).fill('ref')
      await section.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Saved').waitFor()
    })
    const admin = await service.api('acme', ['links:read', 'workspace:admin'])
    assert.deepEqual(expectStatus(await admin.get('/conversions/settings'), 200).body, {
      ...{ track_conversions: true, parameter: 'ref', window_days: 90 },
    })
    assert.notEqual(await tokenAt('/shop', 'ref'), '')
    expectStatus(await api.post('/domains', { domain: 'go.localhost' }), 201)
    await on('/domains', async (page) => {
      await page.getByRole('button', { name: 'Details of go.localhost' }).click()
      await page.getByRole('button', { name: /^Settings/ }).click()
      await page.getByRole('combobox', { name: 'Conversions' }).selectOption('Off')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('go.localhost is changed').waitFor()
    })
    const [domain] = expectStatus(await api.get('/domains'), 200).body.data
    const { body } = expectStatus(await api.get(`/domains/${domain.id}/settings`), 200)
    assert.equal(body.track_conversions, false)
    const [link] = expectStatus(await api.get('/links'), 200).body.data
    await on(`/links/${link.id}`, async (page) => {
      await page.getByRole('region', { name: 'Conversions' }).getByText('70.00').waitFor()
      await page.getByRole('link', { name: 'Open conversions' }).click()
      await page.waitForURL(/analytics\/conversions/)
    })
  })

  test('fit a phone, in German', async () => {
    const options = { locale: 'de-DE', width: 390, height: 844, theme: 'dark' } as const
    await on(
      PATH,
      async (page) => {
        await page.getByRole('heading', { name: 'Letzte Conversions' }).waitFor()
        await page.getByText('70,00').first().waitFor()
        await expectNoSidewaysScroll(page)
        await expectAccessible(page)
      },
      options,
    )
  })
})
