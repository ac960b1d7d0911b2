import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectAccessible, violationsOf } from '../support/accessibility.ts'
import type { Api } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { inDashboard } from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { createLink, type LinkBody } from '../support/links.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

const VISITOR = {
  'user-agent':
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
  referer: 'https://news.example/story',
}

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('the live view of analytics in Chromium', { skip: skipWithout('chromium') }, () => {
    let browser: Browser
    let service: Service
    let api: Api
    let link: LinkBody
    before(async () => {
      browser = await launchChromium()
      service = await startService(engine)
      api = await service.api()
      link = await createLink(api, { key: 'live' })
    })
    after(async () => {
      await browser.close()
      await service.stop()
    })

    const live = (page: Page) => page.getByRole('region', { name: 'Last 30 minutes' })
    const rows = (page: Page) => live(page).getByRole('list', { name: 'Newest clicks' })

    async function visit(to: LinkBody): Promise<void> {
      const url = `http://localhost:${service.port}/${to.key}`
      const answer = await fetch(url, { headers: VISITOR, redirect: 'manual' })
      assert.equal(answer.status, 302)
    }

    test('shows a click as it comes, alone and in its minute', async () => {
      await inDashboard(browser, service, `/analytics?link=${link.id}`, async (page) => {
        await live(page).getByText('No clicks in the last 30 minutes').waitFor()
        await visit(await createLink(api, { key: 'other' }))
        await visit(link)
        const row = rows(page).getByRole('listitem')
        await row.waitFor()
        assert.match(
          await row.innerText(),
          /^\d\d:\d\d:\d\d\s+localhost\s*\/\s*live\s+Country:\s+Unknown\s+Device:\s+Phone\s+Referrer:\s+news\.example$/,
        )
        await live(page)
          .getByRole('img', { name: /^1 click / })
          .waitFor()
        await live(page).getByRole('button', { name: 'Show minutes as a table' }).click()
        await eventually(async () => assert.equal(await live(page).getByRole('row').count(), 31))
      })
    })

    test('shows only clicks with the values and tags that the charts are filtered by', async () => {
      const tagged = await createLink(api, { key: 'tagged', tags: ['watched'] })
      const query = '?os=iOS&referrer=news.example&tag=watched'
      await inDashboard(browser, service, `/analytics${query}`, async (page) => {
        await live(page).getByText('No clicks in the last 30 minutes').waitFor()
        await visit(link)
        await visit(tagged)
        const row = rows(page).getByRole('listitem')
        await row.waitFor()
        await row.getByRole('link', { name: 'localhost/tagged' }).waitFor()
        await page.getByRole('button', { name: 'Remove filter: Tag watched' }).click()
        await rows(page).getByRole('link', { name: 'localhost/live' }).first().waitFor()
      })
      const other = '/analytics?os=Android&tag=watched'
      await inDashboard(browser, service, other, async (page) => {
        await live(page).getByText('No clicks in the last 30 minutes').waitFor()
      })
    })

    test('agrees with the figures of the list and of the page of the link', async () => {
      const counted = await createLink(api, { key: 'counted' })
      await inDashboard(browser, service, '/links', async (page, { origin }) => {
        const clicks = page.getByRole('row', { name: /counted/ }).locator('.c-clicks b')
        await clicks.getByText('0', { exact: true }).waitFor()
        await visit(counted)
        await clicks.getByText('1', { exact: true }).waitFor()
        await page.goto(`${origin}/app/links/${counted.id}`)
        const total = page.getByRole('tab', { name: /^Clicks/ }).getByText('2', { exact: true })
        const fact = page.locator('.facts').getByText('2', { exact: true })
        await page.locator('.facts').getByText('1', { exact: true }).waitFor()
        await visit(counted)
        await total.waitFor()
        await fact.waitFor()
      })
    })

    test('closes the stream in a hidden tab, and catches up when it is visible', async () => {
      await inDashboard(browser, service, '/analytics', async (page) => {
        await rows(page).waitFor()
        const before = await rows(page).getByRole('listitem').count()
        const closed = page.waitForEvent('requestfailed', isStream)
        await setVisibility(page, 'hidden')
        await closed
        const opened = page.waitForRequest(isStream)
        await visit(link)
        await setVisibility(page, 'visible')
        await opened
        await rows(page).getByRole('listitem').nth(before).waitFor()
      })
    })

    test('connects again after a failure, without a message over the page', async () => {
      await inDashboard(browser, service, '/analytics', async (page, { faults, origin }) => {
        await rows(page).waitFor()
        await setVisibility(page, 'hidden')
        let refusals = 0
        await page.route(`${origin}/api/v1/clicks/live?*`, async (route) => {
          refusals += 1
          if (refusals > 1) return route.continue()
          return route.fulfill({ status: 503, json: { code: 'unavailable', message: 'Busy.' } })
        })
        await setVisibility(page, 'visible')
        await live(page).getByText('Connecting again').waitFor()
        assert.equal(await page.getByRole('alert').count(), 0)
        await live(page).getByText('Connecting again').waitFor({ state: 'detached' })
        assert.equal(refusals, 2)
        // The browser reports the 503.
        faults.splice(0)
      })
    })

    test('stops when the page is left', async () => {
      await inDashboard(browser, service, '/analytics', async (page) => {
        await rows(page).waitFor()
        const closed = page.waitForEvent('requestfailed', isStream)
        await page.getByRole('link', { name: 'Tags' }).first().click()
        await closed
      })
    })

    test('is accessible and fits, light and dark, on a desktop and a phone', async () => {
      await inDashboard(browser, service, '/analytics', async (page) => {
        await rows(page).waitFor()
        await expectAccessible(page)
      })
    })

    test('speaks German', async () => {
      await inDashboard(
        browser,
        service,
        '/analytics',
        async (page) => {
          const region = page.getByRole('region', { name: 'Letzte 30 Minuten' })
          await region.getByText('Telefon').first().waitFor()
          assert.deepEqual(await violationsOf(page), [])
        },
        { locale: 'de-DE' },
      )
    })
  })
}

function isStream(request: { url(): string }): boolean {
  return request.url().includes('/clicks/live')
}

/** Chromium without a window keeps every tab visible. */
async function setVisibility(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  `)
}
