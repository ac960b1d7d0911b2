import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectAccessible } from '../support/accessibility.ts'
import { launchChromium } from '../support/chromium.ts'
import { SQLITE } from '../support/engines.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

// Storage plays no part here: one engine is enough.
describe('the API reference in Chromium', { skip: skipWithout('chromium') }, () => {
  let browser: Browser
  let service: Service
  let origin: string
  before(async () => {
    browser = await launchChromium()
    service = await startService(SQLITE)
    origin = `http://localhost:${service.port}`
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  const entry = (page: Page, id: string) => page.locator(`[id="operation/${id}"]`)

  test('shows the operations from compressed files, and loads nothing from other hosts', async () => {
    const page = await browser.newPage()
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
    await page.getByRole('heading', { name: 'Create link' }).click()
    await entry(page, 'links.create').getByText('curl -X POST').waitFor()
    assert.deepEqual(faults, [])
    for (const url of codings.keys()) assert.ok(url.startsWith(origin), url)
    assert.ok([...codings.values()].filter((coding) => coding !== undefined).length >= 3)
    const family = await page.evaluate(`document.fonts.check('13px "Geist Variable"')`)
    assert.equal(family, true)
    await page.close()
  })

  test('opens the operation that the address names, with and without JavaScript', async () => {
    for (const javaScriptEnabled of [true, false]) {
      const context = await browser.newContext({ javaScriptEnabled })
      const page = await context.newPage()
      await page.goto(`${origin}/docs#operation/links.create`)
      await entry(page, 'links.create').getByText('curl -X POST').waitFor()
      assert.equal(await entry(page, 'links.list').isVisible(), false)
      await context.close()
    }
  })

  test('filters the operations by their names and paths, and copies a call', async () => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    await page.goto(`${origin}/docs`)
    await page.getByRole('searchbox').fill('create webhooks')
    const shown = page.locator('main summary:visible')
    assert.deepEqual(await shown.locator('.path').allTextContents(), ['/api/v1/webhooks'])
    await shown.click()
    await page.getByRole('button', { name: 'Copy: curl' }).click()
    await page.getByText('Copied').waitFor()
    const copied = await page.evaluate('navigator.clipboard.readText()')
    assert.match(String(copied), /^curl -X POST "\$TERSE_URL\/api\/v1\/webhooks" \\\n/)
    await context.close()
  })

  test('is accessible and fits, light and dark, on a desktop and a phone', async () => {
    const page = await browser.newPage()
    await page.goto(`${origin}/docs#operation/links.create`)
    await entry(page, 'links.create').getByText('curl -X POST').waitFor()
    await expectAccessible(page)
    await page.close()
  })

  test('has the theme that was chosen in the dashboard', async () => {
    const context = await browser.newContext({ colorScheme: 'light' })
    const page = await context.newPage()
    await page.addInitScript("localStorage.setItem('terse-theme', 'dark')")
    await page.goto(`${origin}/docs`)
    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
    await context.close()
  })
})
