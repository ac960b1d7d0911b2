import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import {
  type Dashboard,
  type DashboardOptions,
  inDashboard,
  keepUndoOffers,
} from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
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
      await api.post('/domains', { domain: 'go.localhost' })
      await api.post('/links', { domain: 'localhost', key: 'plan', url: LONG_URL })
      for (let nth = 0; nth < 60; nth += 1) {
        const domain = nth < 3 ? 'go.localhost' : nth < 5 ? 'later.example.com' : 'localhost'
        const tags = nth === 0 ? ['spring', 'sale'] : []
        await api.post('/links', { domain, key: `list-${nth}`, url: 'https://example.com/', tags })
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

    test('cuts a destination where it tells links apart least', async () => {
      await on('/links?search=plan', async (page) => {
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

    test('shows a short host whole, without a path too', async () => {
      await on('/links?search=list-0', async (page) => {
        const host = page.locator('.row .dest .domain').first()
        assert.equal(await host.textContent(), 'example.com')
        for (const width of [360, 1_280]) {
          await page.setViewportSize({ width, height: 800 })
          await eventually(async () => assert.equal(await overflowOf(host), 0, `${width} px`))
        }
      })
    })

    test('marks links on a domain that is not proved', async () => {
      await on('/links?search=list-&sort=created_at', async (page) => {
        const mark = page.getByRole('button', { name: /^later\.example\.com is not active/ })
        await page
          .getByRole('row', { name: /list-3/ })
          .first()
          .locator(mark)
          .waitFor()
        assert.equal(await mark.count(), 2)
        await page.getByRole('link', { name: 'later.example.com/list-3' }).click()
        await page.getByText('later.example.com is not active').first().waitFor()
      })
    })

    test('filters by several domains, chosen with keys, and says in its chip which', async () => {
      await on('/links', async (page) => {
        await page.getByRole('button', { name: 'Domain', exact: true }).press('Enter')
        const field = page.getByRole('combobox', { name: 'Find a domain' })
        await field.fill('.')
        const options = page.getByRole('option')
        await options.nth(1).waitFor()
        await field.press('Space')
        await field.press('ArrowDown')
        await field.press('Space')
        await page.getByText('1 – 5', { exact: true }).waitFor()
        assert.deepEqual(new URL(page.url()).searchParams.getAll('domain').toSorted(), [
          'go.localhost',
          'later.example.com',
        ])
        await field.press('Enter')
        const chip = page.getByRole('button', { name: /^Domain/ })
        await chip.and(page.locator(':focus')).waitFor()
        assert.match(await chip.innerText(), /Domain\s+later\.example\.com, go\.localhost/)
        await chip.press('Backspace')
        await page.getByText('1 – 50', { exact: true }).waitFor()
      })
    })

    test('filters by days of creation, in the time zone of the browser', async () => {
      await on('/links?created_from=2026-10-01&created_to=2026-10-31', async (page) => {
        await page.getByRole('button', { name: /^Created\s*1 Oct/ }).waitFor()
        await page.getByText('No link matches').first().waitFor()
        const read = page.waitForRequest(/created_after=/)
        await page.getByRole('button', { name: /^Created\s*1 Oct/ }).click()
        await page.getByRole('dialog').getByLabel('From').fill('2026-10-20')
        await page.getByRole('button', { name: 'Apply' }).click()
        const { searchParams } = new URL((await read).url())
        // The clocks change on 25 October.
        assert.equal(searchParams.get('created_after'), '2026-10-19T22:00:00.000Z')
        assert.equal(searchParams.get('created_before'), '2026-10-31T23:00:00.000Z')
        await page.getByRole('button', { name: /^Created/ }).click()
        await page.getByRole('button', { name: 'Last 7 days' }).click()
        await page.getByText('1 – 50', { exact: true }).waitFor()
      })
    })

    test('closes a menu of which one thing is chosen, and keeps those open of which several are', async () => {
      await on('/links', async (page) => {
        await page.getByRole('button', { name: 'Newest first' }).click()
        await page.getByRole('menuitemradio', { name: 'Oldest first' }).click()
        await page.getByRole('menu').waitFor({ state: 'detached' })
        await page.getByRole('button', { name: 'Tag', exact: true }).click()
        await page.getByRole('menuitemcheckbox', { name: 'spring' }).click()
        await page.getByRole('menuitemcheckbox', { name: 'sale' }).click()
        await page.getByText('1 – 1', { exact: true }).waitFor()
        await page.getByRole('menu').waitFor()
      })
    })

    test('has one search field', async () => {
      await on('/links', async (page) => {
        await page.locator('.row').first().waitFor()
        assert.equal(await page.locator('input[type="search"], .find').count(), 1)
        await page.getByRole('button', { name: 'Search and commands' }).click()
        await page.getByRole('dialog').getByRole('combobox').waitFor()
      })
    })

    test('has one tab stop a row, and moves within and between rows with arrow keys', async () => {
      await on('/links', async (page) => {
        const rows = page.locator('.row')
        await rows.first().waitFor()
        assert.equal(await rows.locator('[tabindex="0"], a:not([tabindex])').count(), 50)
        const focused = (nth: number, name: RegExp) =>
          rows.nth(nth).locator(':focus').and(page.getByLabel(name)).waitFor()
        await rows.first().getByRole('link').focus()
        await page.keyboard.press('ArrowRight')
        await focused(0, /Copy link/)
        await page.keyboard.press('ArrowDown')
        await focused(1, /Copy link/)
        await page.keyboard.press('Home')
        await focused(1, /^Select /)
        await page.keyboard.press('End')
        await focused(1, /^Actions for /)
        await page.keyboard.press('ArrowUp')
        await focused(0, /^Actions for /)
        await page.keyboard.press('ArrowLeft')
        await focused(0, /Copy link/)
        await page.keyboard.press('Tab')
        await rows.nth(1).locator(':focus').waitFor()
        assert.equal(await rows.locator('[tabindex="0"], a:not([tabindex])').count(), 50)
        await page.keyboard.press('?')
        await page.getByRole('dialog').getByText('From row to row').waitFor()
      })
    })

    test('announces what a search has found, and nothing at the start', async () => {
      await on('/links', async (page) => {
        const status = page.locator('.main p[role="status"]')
        await page.locator('.row').first().waitFor()
        assert.equal(await status.textContent(), '')
        await page.getByRole('searchbox').fill('list-1')
        await status.getByText('11 links found').waitFor()
        await page.getByRole('searchbox').fill('nothing-such')
        await status.getByText('No link matches').waitFor()
      })
    })

    test('focuses the next row after a deletion, and the restored row after its undo', async () => {
      await on('/links?search=list-5', async (page) => {
        await keepUndoOffers(page)
        const rows = page.locator('.row')
        const link = (key: string) => page.getByRole('link', { name: `localhost/${key}` })
        await link('list-58').focus()
        await page.keyboard.press('End')
        await page.keyboard.press('Enter')
        await page.getByRole('menuitem', { name: 'Delete' }).press('Enter')
        await link('list-58').waitFor({ state: 'detached' })
        await link('list-57').and(page.locator(':focus')).waitFor()
        await page.keyboard.press('z')
        await link('list-58').and(page.locator(':focus')).waitFor()
        await page.getByText('localhost/list-58 is back').first().waitFor()

        await page.getByRole('checkbox', { name: 'Select localhost/list-52' }).check()
        await page.getByRole('checkbox', { name: 'Select localhost/list-51' }).check()
        await page.getByRole('button', { name: 'Delete', exact: true }).press('Enter')
        await link('list-50').and(page.locator(':focus')).waitFor()
        await page.getByRole('button', { name: /^Undo/ }).press('Enter')
        await link('list-52').and(page.locator(':focus')).waitFor()
        await page.getByText('2 links are back').first().waitFor()
        assert.equal(await rows.count(), 11)
      })
    })

    test('returns from the form to the same filters, page and scroll', async () => {
      await on('/links?search=list-&sort=key', async (page) => {
        const isAt = (top: number) =>
          eventually(async () => {
            assert.equal(await page.locator('.row').count(), 50)
            assert.equal(await page.evaluate('Math.round(scrollY)'), top)
          })
        await page.locator('.row').nth(49).waitFor()
        await page.evaluate('scrollTo(0, 700)')
        await isAt(700)
        await page.keyboard.press('c')
        await page.getByLabel('Destination').fill('https://example.com/')
        await page.getByRole('button', { name: 'Cancel' }).click()
        await isAt(700)
        assert.equal(new URL(page.url()).search, '?search=list-&sort=key')
        await page.keyboard.press('c')
        await page.getByLabel('Destination').fill('https://example.com/')
        await page.getByLabel('Key', { exact: true }).fill('list-zz')
        await page.getByRole('button', { name: /^Create link/ }).click()
        await page.waitForURL(/search=list-&sort=key/)
        await isAt(700)
      })
    })

    test('keeps the scroll over a reload', async () => {
      await on('/links?search=list-', async (page) => {
        await page.locator('.row').nth(49).waitFor()
        await page.evaluate('scrollTo(0, 700)')
        await page.reload()
        // What is loaded above the list may move it by the height of a line.
        await eventually(async () => {
          const top = Number(await page.evaluate('scrollY'))
          assert.ok(Math.abs(top - 700) <= 100, `${top}`)
        })
      })
    })

    test('moves selected links only to a domain that was chosen, and completes tags', async () => {
      await on('/links?search=list-3', async (page) => {
        await page.getByRole('checkbox', { name: 'Select localhost/list-33' }).check()
        await page.getByRole('button', { name: 'Move' }).click()
        const move = page.getByRole('dialog')
        assert.equal(await move.getByRole('combobox').inputValue(), '')
        assert.ok(await move.getByRole('button', { name: 'Move' }).isDisabled())
        await move.getByRole('combobox').selectOption('go.localhost')
        await move.getByRole('button', { name: 'Move' }).click()
        await page.getByText('1 link changed').first().waitFor()
        await page.getByRole('button', { name: 'Tag', exact: true }).last().click()
        const options = page.getByRole('dialog').locator('datalist').first().locator('option')
        const known = await options.evaluateAll((all) =>
          all.map((one) => (one as unknown as { value: string }).value),
        )
        assert.ok(known.includes('spring') && known.includes('sale'), known.join())
      })
    })
  })
}
