import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { type Api, expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { type Dashboard, type DashboardOptions, inDashboard } from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('the link form in Chromium', { skip: skipWithout('chromium') }, () => {
    let browser: Browser
    let service: Service
    let api: Api
    before(async () => {
      browser = await launchChromium()
      service = await startService(engine)
      api = await service.api()
      for (const domain of ['old.localhost', 'new.localhost']) {
        expectStatus(await api.post('/domains', { domain }), 201)
      }
    })
    after(async () => {
      await browser.close()
      await service.stop()
    })

    const on = (
      path: string,
      use: (page: Page, dashboard: Dashboard) => Promise<void>,
      options?: DashboardOptions,
    ) => inDashboard(browser, service, path, use, options)

    test('starts on the default domain, else on the one used last, else on the oldest', async () => {
      await on('/links/new', async (page, { origin }) => {
        const starts = async (host: string) => {
          await page.goto(`${origin}/app/links/new`)
          assert.equal(await page.getByLabel('Domain').inputValue(), host)
        }
        await starts('old.localhost')
        await page.getByLabel('Domain').selectOption('localhost')
        await page.getByLabel('Destination').fill('https://example.com/')
        await page.keyboard.press('Enter')
        await page.getByText('Link created and copied').waitFor()
        await starts('localhost')

        await page.goto(`${origin}/app/domains`)
        const choose = async (act: string) => {
          await page.getByRole('button', { name: 'Actions for new.localhost' }).click()
          await page.getByRole('menuitem', { name: act, exact: true }).click()
        }
        await choose('Start new links here')
        await page.getByText('New links start on new.localhost.').waitFor()
        await page.getByRole('heading', { name: 'new.localhost Default' }).waitFor()
        await starts('new.localhost')
        await page.goto(`${origin}/app/domains`)
        await choose('Do not start new links here')
        await page.getByText('New links start on the domain that each person').waitFor()
        await eventually(async () => {
          assert.equal((await api.get('/default-domain')).body.domain, null)
        })
        await starts('localhost')
      })
    })

    test('words the faults of fields in the language that is shown, with their parameters', async () => {
      const taken = { domain: 'localhost', key: 'taken', url: 'https://example.com/' }
      expectStatus(await api.post('/links', taken), 201)
      await on(
        '/links/new?domain=localhost&key=taken',
        async (page, { faults }) => {
          await page.getByText('localhost/taken ist auf dieser Domain vergeben').waitFor()
          await page.getByLabel('Kürzel', { exact: true }).fill('k'.repeat(191))
          await page.getByText('darf höchstens 190 Zeichen haben').waitFor()
          await page.getByLabel('Kürzel', { exact: true }).fill('free')
          await page.getByLabel('Ziel', { exact: true }).fill('https://ada:secret@example.com/')
          await page.getByRole('button', { name: 'Link anlegen' }).click()
          await page.getByText('Darf weder Benutzernamen noch Passwort enthalten').waitFor()
          // The browser reports the 422 that this test made.
          faults.splice(0)
        },
        { locale: 'de-DE' },
      )
    })
  })
}
