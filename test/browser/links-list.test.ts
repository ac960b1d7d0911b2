import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { type Dashboard, type DashboardOptions, inDashboard } from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

const LONG_URL = `https://www.acme-exhibition-files-2026.s3.eu-central-1.amazonaws.com/munich/plans/${'deep/'.repeat(12)}hall.pdf?signature=${'x'.repeat(60)}`

/** The part of a text that is not cut, in pixels. */
function overflowOf(part: Locator): Promise<number> {
  return part.evaluate((node) => {
    const { scrollWidth, clientWidth } = node as unknown as Record<string, number>
    return (scrollWidth ?? 0) - (clientWidth ?? 0)
  })
}

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('the list of links in Chromium', { skip: skipWithout('chromium') }, () => {
    let browser: Browser
    let service: Service
    before(async () => {
      browser = await launchChromium()
      service = await startService(engine)
      const api = await service.api()
      await api.post('/links', { domain: 'localhost', key: 'plan', url: LONG_URL })
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

    test('cuts a destination where it tells links apart least', async () => {
      await on('/links', async (page) => {
        const cell = page.locator('.row', { hasText: 'plan' }).locator('.c-dest')
        for (const width of [905, 1_060, 1_240, 1_280]) {
          await page.setViewportSize({ width, height: 800 })
          const box = await cell.boundingBox()
          assert.ok(box !== null && box.width >= 220, `${box?.width} px at ${width} px`)
          for (const whole of ['.domain', '.last']) {
            assert.equal(await overflowOf(cell.locator(whole)), 0, `${whole} at ${width} px`)
          }
          for (const cut of ['.front', '.middle', '.query']) {
            assert.notEqual(await overflowOf(cell.locator(cut)), 0, `${cut} at ${width} px`)
          }
        }
        assert.equal(await cell.locator('.dest').getAttribute('title'), LONG_URL)
      })
    })
  })
}
