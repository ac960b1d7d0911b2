import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { type Dashboard, inDashboard } from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

const REFUSED = 'The browser did not allow to copy.'

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('copying in the dashboard', { skip: skipWithout('chromium') }, () => {
    let browser: Browser
    let service: Service
    before(async () => {
      browser = await launchChromium()
      service = await startService(engine)
      const api = await service.api()
      await api.post('/links', { domain: 'localhost', key: 'first', url: 'https://example.com/' })
      await api.post('/domains', { domain: 'links.acme.example' })
    })
    after(async () => {
      await browser.close()
      await service.stop()
    })

    const on = (path: string, use: (page: Page, dashboard: Dashboard) => Promise<void>) =>
      inDashboard(browser, service, path, use)

    /** Lets a request to the API wait until a copy has begun, as WebKit demands. */
    async function answerAfterCopy(page: Page, method: string, path: RegExp): Promise<void> {
      const begun = Promise.withResolvers<void>()
      await page.exposeFunction('copyBegun', begun.resolve)
      await page.evaluate(`{
        const write = navigator.clipboard.write.bind(navigator.clipboard)
        navigator.clipboard.write = (items) => (copyBegun(), write(items))
      }`)
      await page.route(path, async (route) => {
        if (route.request().method() === method) await begun.promise
        await route.fallback()
      })
    }

    async function refuseCopies(page: Page): Promise<void> {
      await page.evaluate(`{
        const refuse = () => Promise.reject(new DOMException('', 'NotAllowedError'))
        navigator.clipboard.write = refuse
        navigator.clipboard.writeText = refuse
        document.execCommand = () => false
      }`)
    }

    const copied = (page: Page) => page.evaluate('navigator.clipboard.readText()')

    async function findInPalette(page: Page, text: string): Promise<void> {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: /^Search links/ }).fill(text)
    }

    test('begins before the new link is answered, and offers to copy it again', async () => {
      await on('/links/new?url=https://example.com/new&key=made', async (page) => {
        await page.getByText('localhost/made is free').first().waitFor()
        await answerAfterCopy(page, 'POST', /\/api\/v1\/links$/)
        await page.getByRole('button', { name: 'Create link' }).click()
        await page.getByText('Link created and copied').waitFor()
        assert.match(String(await copied(page)), /\/made$/)
        await page.evaluate('navigator.clipboard.writeText("")')
        await page.getByRole('button', { name: 'Copy', exact: true }).click()
        await page.getByText('Copied', { exact: true }).waitFor()
        assert.match(String(await copied(page)), /\/made$/)
      })
    })

    test('begins before the DNS records are answered', async () => {
      await on('/links', async (page) => {
        await page.getByText('/first').first().waitFor()
        await answerAfterCopy(page, 'GET', /\/api\/v1\/domains\/[\w-]+\/dns/)
        await findInPalette(page, 'acme.ex')
        await page.getByRole('option', { name: 'Copy DNS records' }).click()
        await page.getByText('Copied', { exact: true }).waitFor()
        assert.match(String(await copied(page)), /TXT {2}_terse\.links\.acme\.example/)
      })
    })

    test('shows "Copied" beside the button', async () => {
      await on('/links', async (page) => {
        const row = page.getByRole('row', { name: /first/ })
        const shown = page.getByRole('tooltip').filter({ hasText: 'Copied' }).waitFor()
        await row.getByRole('button', { name: 'Copy link' }).click()
        await shown
        await page.getByRole('tooltip').waitFor({ state: 'detached' })
      })
    })

    test('reports that the browser refuses, at a row, in its menu, in the palette and after a creation', async () => {
      await on('/links', async (page, { origin }) => {
        const row = page.getByRole('row', { name: /first/ })
        await row.waitFor()
        const places = [
          () => row.getByRole('button', { name: 'Copy link' }).click(),
          async () => {
            await row.getByRole('button', { name: 'Actions for first' }).click()
            await page.getByRole('menuitem', { name: 'Copy link' }).click()
          },
          async () => {
            await findInPalette(page, 'first')
            await page.getByRole('option', { name: 'Copy short link' }).click()
          },
        ]
        for (const copy of places) {
          await refuseCopies(page)
          await copy()
          await page.getByText(REFUSED).first().waitFor()
          await page.reload()
        }
        await page.goto(`${origin}/app/links/new?url=https://example.com/&key=refused`)
        await page.getByText('localhost/refused is free').first().waitFor()
        await refuseCopies(page)
        await page.getByRole('button', { name: 'Create link' }).click()
        await page.getByText('Link created', { exact: true }).waitFor()
        await page.getByRole('button', { name: 'Copy', exact: true }).click()
        await page.getByText(REFUSED).first().waitFor()
      })
    })
  })
}
