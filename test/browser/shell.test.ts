import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectAccessible } from '../support/accessibility.ts'
import { expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { expectCopied, inDashboard } from '../support/dashboard.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'
import { settle } from '../support/settled.ts'

const PHONE = { width: 360 }

// Storage plays no part here: one engine is enough.
describe('what surrounds the pages', { skip: skipWithout('chromium') }, () => {
  let browser: Browser
  let service: Service
  before(async () => {
    browser = await launchChromium()
    service = await startService(SQLITE)
    const api = await service.api('acme')
    for (const key of ['autumn', 'winter']) {
      const link = { domain: 'localhost', key, url: `https://example.com/${key}` }
      expectStatus(await api.post('/links', link), 201)
    }
    await service.token('beta')
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  const on = (
    path: string,
    use: Parameters<typeof inDashboard>[3],
    options?: Parameters<typeof inDashboard>[4],
  ) => inDashboard(browser, service, path, use, options)

  async function openPalette(page: Page, typed = '') {
    await settle(page)
    const field = page.getByRole('combobox', { name: /^Search links/ })
    // Once more where the page was not listening yet: the keys never close it.
    await eventually(async () => {
      await page.keyboard.press('Control+k')
      await field.waitFor({ timeout: 5_000 })
    })
    await field.fill(typed)
    // Links that are found move the entries below them, also while one is clicked.
    await settle(page)
    return field
  }

  test('switches the theme from the sidebar, to the one that is not seen', async () => {
    await on(
      '/links',
      async (page) => {
        const shown = () => page.evaluate('document.documentElement.dataset.theme')
        await page.getByRole('button', { name: 'Use light colours' }).click()
        assert.equal(await shown(), 'light')
        await page.getByRole('button', { name: 'Use dark colours' }).click()
        assert.equal(await shown(), 'dark')
      },
      { theme: 'dark' },
    )
  })

  test('shows the workspace on a phone, and switches it', async () => {
    await on(
      '/tags',
      async (page) => {
        await page.getByRole('button', { name: /^Workspace\s*acme$/ }).click()
        await page.getByRole('menuitemradio', { name: 'beta' }).click()
        await page.waitForURL(/\/links$/)
        await page.getByRole('button', { name: /^Workspace\s*beta$/ }).waitFor()
        await page.getByRole('heading', { name: 'Paste a long URL' }).waitFor()
        await expectAccessible(page)
      },
      PHONE,
    )
  })

  test('keeps the bar of a phone within its width, with the longest words', async () => {
    await on(
      '/domains',
      async (page) => {
        await page.getByRole('button', { name: 'Domain hinzufügen' }).first().waitFor()
        const { right } = (await page.evaluate(
          `({ right: Math.max(...[...document.querySelectorAll('.top *')].map((one) => one.getBoundingClientRect().right)) })`,
        )) as { right: number }
        assert.ok(right <= PHONE.width, `something ends at ${right} px`)
      },
      { ...PHONE, locale: 'de' },
    )
  })

  test('leads to the settings once, in the sidebar and on a phone', async () => {
    await on('/links', async (page) => {
      await page.getByRole('button', { name: /^Account/ }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).waitFor()
      const items = page.getByRole('menuitem', { name: 'Settings' })
      assert.equal(await items.count(), 0)
      await page.getByRole('menuitem', { name: 'Profile' }).waitFor()
    })
    await on(
      '/links',
      async (page) => {
        await page.getByRole('button', { name: 'More' }).click()
        await page.getByRole('menuitem', { name: 'Settings' }).waitFor()
        assert.equal(await page.getByRole('menuitem', { name: 'Settings' }).count(), 1)
      },
      PHONE,
    )
  })

  test('shows an operator that all is well only while the instance says so', async () => {
    await on('/links', async (page, { origin }) => {
      await page.getByRole('link', { name: 'All systems normal' }).waitFor()
      await page.route(`${origin}/api/v1/instance`, async (route) => {
        const answer = await route.fetch()
        await route.fulfill({ json: { ...(await answer.json()), is_disk_low: true } })
      })
      await page.reload()
      await page.getByRole('link', { name: 'Something needs attention' }).click()
      await page.getByText('The disk of the data folder is almost full.').waitFor()
      assert.equal(await page.getByText('All systems normal').count(), 0)
    })
  })

  test('opens the shortcuts from the palette, and finds commands with a slip', async () => {
    await on('/links', async (page) => {
      await openPalette(page)
      await page.keyboard.press('?')
      const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
      await shortcuts.waitFor()
      // It listens for keys only once it is painted.
      await settle(page)
      await page.keyboard.press('Escape')
      await shortcuts.waitFor({ state: 'detached' })
      const field = await openPalette(page, 'sing out')
      await page.getByRole('option', { name: 'Sign out' }).waitFor()
      await field.fill('analitics')
      await page.getByRole('option', { name: 'Go to Analytics' }).waitFor()
      await field.fill('sprache')
      await page.getByRole('option', { name: 'Language: Deutsch' }).click()
      await page.getByRole('link', { name: 'Einstellungen' }).waitFor()
    })
  })

  test('invites, and ends the session, from the palette', async () => {
    await on('/links', async (page) => {
      await openPalette(page, 'invite')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByLabel('E-mail').waitFor()
      await page.keyboard.press('Escape')
      await page.waitForURL(/\/settings\/members$/)
      await openPalette(page, 'theme dark')
      await page.keyboard.press('Enter')
      assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
    })
  })

  test('creates a link to an address without a scheme', async () => {
    await on('/links', async (page) => {
      await openPalette(page, 'www.example.org/a?b=c')
      await page.getByRole('option', { name: 'Create link to www.example.org/a?b=c' }).click()
      await page.waitForURL(/\/links\/new\?/)
      await settle(page)
      const destination = page.getByLabel('Destination', { exact: true })
      assert.equal(await destination.inputValue(), 'https://www.example.org/a?b=c')
    })
  })

  test('acts on the link that was found with one key each, which the palette shows', async () => {
    await on('/links', async (page) => {
      const find = async () => {
        await openPalette(page, 'winter')
        await page.getByRole('group', { name: 'With localhost/winter' }).waitFor()
      }
      await find()
      await page.locator('.pal-f').getByText('copy').waitFor()
      await page.keyboard.press('Control+c')
      await expectCopied(page, /\/winter$/)
      await find()
      await page.keyboard.press('Tab')
      await page.getByRole('option', { name: 'Edit', selected: true }).waitFor()
      await page.keyboard.press('Shift+Tab')
      await page.getByRole('option', { name: /^localhost\/winter/, selected: true }).waitFor()
      await page.keyboard.press('Control+i')
      await page.waitForURL(/\/analytics\?link=/)
      await find()
      await page.keyboard.press('Control+e')
      await page.waitForURL(/\/edit$/)
      await find()
      const opened = page.context().waitForEvent('page')
      await page.keyboard.press('Control+o')
      await (await opened).close()
    })
  })

  test('shows the current place and the state of the instance in forced colours', async () => {
    await on('/links/new?url=https://example.com/shop', async (page) => {
      await page.emulateMedia({ forcedColors: 'active' })
      await page.locator('.final').waitFor()
      const style = (selector: string, name: string) =>
        page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${name}`)
      const current = '.nav a[aria-current]'
      for (const part of ['.i', '.n']) {
        const [whole, own] = [
          await style(current, 'color'),
          await style(`${current} ${part}`, 'color'),
        ]
        assert.equal(own, whole, part)
      }
      assert.equal(await style('.status-line .dot', 'forcedColorAdjust'), 'none')
      assert.equal(await style('.final', 'borderTopStyle'), 'solid')
    })
  })
})
