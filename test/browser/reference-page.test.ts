import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { ENGINES } from '../support/engines.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

/** Swagger UI takes seconds of processor time for a hundred operations, and other tests leave it a part. */
const PATIENCE_MS = 120_000

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('the API reference in Chromium', { skip: skipWithout('chromium') }, () => {
    let browser: Browser
    let service: Service
    before(async () => {
      browser = await launchChromium()
      service = await startService(engine)
    })
    after(async () => {
      await browser.close()
      await service.stop()
    })

    test('shows the operations from compressed files, and loads nothing from other hosts', async () => {
      const origin = `http://localhost:${service.port}`
      const page = await browser.newPage()
      page.setDefaultTimeout(PATIENCE_MS)
      const faults: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error') faults.push(message.text())
      })
      page.on('pageerror', (error) => faults.push(error.message))
      const codings = new Map<string, string | undefined>()
      page.on('response', (response) => {
        codings.set(response.url(), response.headers()['content-encoding'])
      })
      await page.goto(`${origin}/docs`)
      await page.getByText('Create link', { exact: true }).click()
      await page.getByRole('button', { name: 'Execute' }).waitFor()
      assert.deepEqual(faults, [])
      for (const url of codings.keys()) assert.ok(/^data:/.test(url) || url.startsWith(origin), url)
      assert.ok([...codings.values()].filter((coding) => coding !== undefined).length >= 3)
    })
  })
}
