import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectAccessible } from '../support/accessibility.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { type Dashboard, expectCopied, inDashboard } from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const PHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Mobile/15E148'

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('the page of a link in Chromium', { skip: skipWithout('chromium') }, () => {
    let browser: Browser
    let service: Service
    let api: Api
    before(async () => {
      browser = await launchChromium()
      service = await startService(engine)
      api = await service.api()
    })
    after(async () => {
      await browser.close()
      await service.stop()
    })

    const on = (path: string, use: (page: Page, dashboard: Dashboard) => Promise<void>) =>
      inDashboard(browser, service, path, use)

    async function create(fields: object): Promise<string> {
      const link = { domain: 'localhost', url: 'https://www.acme.test/sale', ...fields }
      return expectStatus(await api.post('/links', link), 201).body.id
    }

    test('begins with figures and chart, and folds the activity', async () => {
      const id = await create({
        ...{ key: 'full', ios: 'https://apps.acme.test/', tags: ['spring'], utm_source: 'mail' },
        ...{ expires_at: '2040-01-01T00:00:00Z', password: 'a good secret' },
      })
      await on(`/links/${id}`, async (page) => {
        const main = page.getByRole('main')
        await main.getByRole('img', { name: /^QR code of/ }).waitFor()
        const names = await main.getByRole('heading', { level: 2 }).allTextContents()
        assert.deepEqual(names, ['What this link does', 'Activity'])
        const says = main.getByRole('list', { name: 'What this link does' }).getByRole('listitem')
        assert.deepEqual(
          (await says.allTextContents()).map((text) => text.replace(/in [\d,]+ days$/, '')),
          [
            'Asks for the password first',
            'iPhone and iPadapps.acme.test',
            'Everyone elseacme.test/sale',
            'Until 1 Jan 2040, 01:00, then the domain’s page for expired links',
          ],
        )
        const figures = await main.getByRole('region', { name: 'Figures' }).boundingBox()
        assert.ok(figures !== null && figures.y < 100, 'the figures come first')
        assert.equal(await main.getByText('created this link').isVisible(), false)
        await main.getByText(/^1 change, the last by /).click()
        await main.getByText('created this link').waitFor()
        await expectAccessible(page)
      })
    })

    test('shows another period by its key, and keeps it in the browser', async () => {
      const id = await create({ key: 'period' })
      await on(`/links/${id}`, async (page, { origin }) => {
        const chosen = page.getByRole('group', { name: 'Period' }).locator('[aria-pressed="true"]')
        await chosen.getByText('30 days').waitFor()
        const asked = page.waitForRequest(/clicks\?.*interval=day/)
        await page.keyboard.press('1')
        await chosen.getByText('14 days').waitFor()
        const { searchParams } = new URL((await asked).url())
        const [from, to] = [searchParams.get('from'), searchParams.get('to')].map(
          (date) => Date.parse(date ?? '') / 86_400_000,
        )
        assert.equal(Number(to) - Number(from), 14)
        await page.goto(`${origin}/app/links/${id}`)
        await chosen.getByText('14 days').waitFor()
        await page.waitForFunction('terseEarly.size === 0')
        await page.getByRole('link', { name: 'Open in Analytics' }).click()
        await page.waitForURL(/\/analytics\?.*from=/)
      })
    })

    test('offers the short link until it is clicked, and then where the clicks come from', async () => {
      const id = await create({ key: 'fresh' })
      await on(`/links/${id}`, async (page) => {
        await page.getByText('No click yet.').waitFor()
        await page
          .getByRole('banner')
          .or(page.locator('header'))
          .getByRole('button', { name: 'Copy link' })
          .click()
        await expectCopied(page, /^http:\/\/localhost:\d+\/fresh$/)
        const headers = { 'user-agent': PHONE }
        await visit(service.port, '/fresh', { host: `localhost:${service.port}`, headers })
        const devices = page.getByRole('link', { name: /^Phone/ })
        await devices.waitFor()
        assert.match(String(await devices.getAttribute('href')), /\/analytics\?.*device=mobile/)
        await page.getByRole('tab', { name: /^Clicks 1/ }).waitFor()
      })
    })

    test('says that a link on a domain that is not active does not work', async () => {
      const id = await create({ domain: 'go.acme.test', key: 'pending' })
      await on(`/links/${id}`, async (page) => {
        await page.getByText('go.acme.test is not active, so this link does not work').waitFor()
        await page.getByRole('link', { name: 'Show domain' }).click()
        await page.getByRole('heading', { name: 'go.acme.test' }).waitFor()
      })
    })
  })
}
