import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectAccessible, violationsOf } from '../support/accessibility.ts'
import { launchChromium } from '../support/chromium.ts'
import {
  type Dashboard,
  type DashboardOptions,
  expectCopied,
  expectFocusIn,
  inDashboard,
  keepUndoOffers,
} from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { skipWithout } from '../support/programs.ts'
import { scan } from '../support/scan.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('the dashboard in Chromium', { skip: skipWithout('chromium') }, () => {
    let browser: Browser
    let service: Service
    let linkId: string
    before(async () => {
      browser = await launchChromium()
      service = await startService(engine)
      const api = await service.api()
      for (let nth = 0; nth < 60; nth += 1) {
        const link = { domain: 'localhost', key: `link-${nth}`, url: `https://example.com/${nth}` }
        const answer = await api.post('/links', { ...link, tags: nth % 2 === 0 ? ['even'] : [] })
        linkId = answer.body.id
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

    test('is accessible and fits, light and dark, on a desktop and a phone', async () => {
      await on('/links', async (page, { origin }) => {
        const pages = [
          ['/links', 'link-59'],
          ['/links/new', 'Destination'],
          [`/links/${linkId}`, 'Activity'],
        ] as const
        for (const [path, text] of pages) {
          await page.goto(`${origin}/app${path}`)
          await page.getByText(text).first().waitFor()
          await expectAccessible(page)
        }
      })
    })

    test('uses every answer that was requested before the code had come', async () => {
      await on('/links?tag=even&sort=-clicks', async (page, { origin }) => {
        const pages = [
          ['/links?tag=even&sort=-clicks', '.tbl .short'],
          [`/links/${linkId}`, '.plot'],
          ['/analytics?period=12m', '.plot'],
        ] as const
        for (const [path, shown] of pages) {
          await page.goto(`${origin}/app${path}`)
          await page.locator(shown).first().waitFor()
          await page.waitForFunction('terseEarly.size === 0')
        }
      })
    })

    test('shows German to a browser that asks for it', async () => {
      await on(
        '/links',
        async (page) => {
          await page.getByRole('link', { name: 'Link anlegen' }).first().waitFor()
          assert.equal(await page.locator('html').getAttribute('lang'), 'de')
        },
        { locale: 'de-DE' },
      )
    })

    test('keeps search, order and page in the address, and goes back through them', async () => {
      await on('/links', async (page) => {
        await page.getByRole('link', { name: 'Page 2' }).click()
        await page.getByText('51 – 60').waitFor()
        const current = page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current]')
        assert.deepEqual(await current.allInnerTexts(), ['2'])
        await page.getByRole('searchbox').fill('link-1')
        await page.getByText('1 – 11').waitFor()
        assert.equal(new URL(page.url()).search, '?search=link-1')
        await page.goBack()
        await page.getByText('51 – 60').waitFor()
        assert.equal(new URL(page.url()).search, '?page=2')
      })
    })

    test('opens menus with keys, moves through them, and gives the focus back', async () => {
      await on('/links', async (page) => {
        const state = page.getByRole('button', { name: 'State' })
        const trigger = (isOpen: boolean) => page.locator(`.chip-open[aria-expanded="${isOpen}"]`)
        for (const [key, entry] of [
          ['Enter', 'Active'],
          ['ArrowDown', 'Active'],
          ['ArrowUp', 'Protected'],
        ] as const) {
          await state.press(key)
          const menu = page.getByRole('menu', { name: 'State' })
          await menu.locator(':focus').getByText(entry).waitFor()
          await trigger(true).getByText('State').waitFor()
          await page.keyboard.press('Escape')
          await menu.waitFor({ state: 'detached' })
          await trigger(false).and(page.locator(':focus')).getByText('State').waitFor()
        }
      })
    })

    test('filters by a tag of the workspace', async () => {
      await on('/links', async (page) => {
        await page.getByRole('button', { name: 'Tag', exact: true }).click()
        await page.getByRole('menuitemcheckbox', { name: 'even' }).click()
        await page.getByText('1 – 30').waitFor()
        assert.equal(new URL(page.url()).search, '?tag=even')
        // The menu stays open, for other tags.
        await page.keyboard.press('Escape')
        await page.getByRole('button', { name: 'Remove filter: Tag even' }).click()
        await page.getByText('1 – 50').waitFor()
      })
    })

    test('makes a link by keyboard alone, and copies it', async () => {
      await on('/links', async (page) => {
        await page.getByText('link-59').first().waitFor()
        await page.keyboard.press('c')
        await page.getByLabel('Destination').waitFor()
        await expectFocusIn(page)
        await page.keyboard.type('example.com/by-keyboard')
        await page.keyboard.press('Enter')
        await page.getByText('Link created and copied').waitFor()
        const copied = await expectCopied(page, /^http:\/\/localhost:\d+\/[a-z0-9]{7}$/)
        await page.getByText(new URL(copied).pathname.slice(1)).first().waitFor()
      })
    })

    test('shows errors of the API at their fields, and keeps what was typed', async () => {
      await on('/links/new?key=link-1', async (page, { faults }) => {
        await page.getByLabel('Destination').fill('https://example.com/')
        await page.getByRole('button', { name: 'Create link' }).click()
        await page.getByRole('status').filter({ hasText: '1 field has an error' }).waitFor()
        assert.equal(
          await page.getByLabel('Key', { exact: true }).getAttribute('aria-invalid'),
          'true',
        )
        assert.equal(await page.getByLabel('Destination').inputValue(), 'https://example.com/')
        faults.splice(0)
      })
    })

    test('shows the clicks of 14 days beside each link', async () => {
      const api = await service.api()
      const { data } = (await api.get('/links?search=link-7')).body
      await visit(service.port, `/${data[0].key}`, { host: 'localhost' })
      await eventually(async () => {
        const { body } = await api.get(`/clicks/sparklines?link=${data[0].id}`)
        assert.equal(body.data[0].total, 1)
      })
      await on('/links?search=link-7', async (page) => {
        await page.getByRole('img', { name: '1 click in 14 days' }).waitFor()
      })
    })

    test('says that another person has changed the link meanwhile, and keeps both versions', async () => {
      const api = await service.api()
      const fields = { domain: 'localhost', key: 'contested', url: 'https://example.com/1' }
      const { id } = (await api.post('/links', fields)).body
      await on(`/links/${id}/edit`, async (page, { faults }) => {
        const destination = page.getByLabel('Destination')
        const save = page.getByRole('button', { name: 'Save changes' })
        await destination.fill('https://example.com/mine')
        await api.patch(`/links/${id}`, { url: 'https://example.com/theirs' })
        await save.click()
        await page.getByText('Another person has changed this link').waitFor()
        assert.equal(await destination.inputValue(), 'https://example.com/mine')
        await page.getByRole('button', { name: 'Load their version' }).click()
        await page.getByText('Another person has changed this link').waitFor({ state: 'detached' })
        assert.equal(await destination.inputValue(), 'https://example.com/theirs')
        await destination.fill('https://example.com/mine')
        await api.patch(`/links/${id}`, { url: 'https://example.com/theirs-again' })
        await save.click()
        await page.getByRole('button', { name: 'Save mine' }).click()
        await page.getByText('Changes saved').waitFor()
        // The browser reports both answers with status 412.
        faults.splice(0)
      })
      assert.equal((await api.get(`/links/${id}`)).body.url, 'https://example.com/mine')
    })

    test('brings a deleted link back with Undo, and deletes at once when the page is left', async () => {
      const api = await service.api()
      const fields = { domain: 'localhost', key: 'to-delete', url: 'https://example.com/' }
      const { id } = (await api.post('/links', fields)).body
      await on('/links', async (page) => {
        await keepUndoOffers(page)
        const remove = async () => {
          await page.getByRole('button', { name: 'Actions for to-delete' }).click()
          await page.getByRole('menuitem', { name: 'Delete' }).click()
          await page.getByText('Deleted localhost/to-delete').waitFor()
        }
        const row = page.getByTitle('localhost/to-delete')
        await remove()
        await row.waitFor({ state: 'detached' })
        await page.getByRole('button', { name: /^Undo/ }).click()
        await row.waitFor()
        assert.equal((await api.get(`/links/${id}`)).status, 200)
        await remove()
        // As when it is left; the headers of this test do not reach requests of a page that is gone.
        const deleted = page.waitForResponse((answer) => answer.request().method() === 'DELETE')
        await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide'))")
        assert.equal((await deleted).status(), 200)
      })
      assert.equal((await api.get(`/links/${id}`)).status, 404)
    })

    test('tags the selected links of all pages, takes it back, and names those that failed', async () => {
      await on('/links?search=link-1', async (page, { origin }) => {
        await page.getByRole('checkbox', { name: 'Select localhost/link-1', exact: true }).check()
        await keepUndoOffers(page)
        await page.getByRole('button', { name: 'Select all 11' }).click()
        await page.getByText('11 selected').waitFor()
        await page.getByRole('button', { name: 'Tag', exact: true }).last().click()
        const dialog = page.getByRole('dialog', { name: 'Tag 11 links' })
        await dialog.getByLabel('Add tags').fill('bulk, spring')
        await dialog.getByLabel('Remove tags').fill('even')
        await dialog.getByRole('button', { name: 'Tag' }).click()
        await page.getByText('11 links changed').waitFor()
        const api = await service.api()
        assert.equal((await api.get('/links?tag=bulk&tag=spring')).body.meta.total, 11)
        assert.equal((await api.get('/links?tag=bulk&tag=even')).body.meta.total, 0)
        await page.getByRole('button', { name: /^Undo/ }).click()
        await page.getByText('11 links as they were before').waitFor()
        assert.equal((await api.get('/links?tag=bulk')).body.meta.total, 0)
        assert.ok((await api.get('/links?search=link-1&tag=even')).body.meta.total > 0)
        const error = { code: 'not_found', message: 'There is no such link.' }
        const failed = { index: 0, status: 'failed', id: 'gone', link: null, before: null, error }
        await page.route(`${origin}/api/v1/links/bulk`, (route) =>
          route.fulfill({ json: { done: true, results: [failed] } }),
        )
        await page.getByRole('button', { name: 'Delete', exact: true }).click()
        const deleted = page.getByRole('dialog').filter({ hasText: '11 links deleted' })
        await deleted.getByRole('button', { name: 'Close' }).click()
        await page.getByText('There is no such link.').waitFor()
      })
    })

    test('asks to sign in over a form when the session has ended, and goes on with it', async () => {
      await on('/links/new', async (page, { faults, origin }) => {
        await page.getByLabel('Destination').fill('https://example.com/kept')
        let refusals = 1
        await page.route(`${origin}/api/v1/links`, (route) => {
          if (refusals === 0 || route.request().method() !== 'POST') return route.fallback()
          refusals -= 1
          const json = { code: 'unauthorized', message: 'The session has ended.' }
          return route.fulfill({ status: 401, json })
        })
        await page.getByRole('button', { name: 'Create link' }).click()
        const dialog = page.getByRole('dialog', { name: 'Sign in' })
        await dialog.getByLabel('Password', { exact: true }).fill('correct horse battery staple')
        await dialog.getByRole('button', { name: 'Sign in' }).click()
        await page.getByText('Link created').waitFor()
        // The browser reports the 401 that this test made.
        faults.splice(0)
      })
    })

    test('says that redirects continue while the API is unavailable, and recovers', async () => {
      await on('/links', async (page, { faults, origin }) => {
        await page.getByText('link-59').first().waitFor()
        const unavailable = { code: 'unavailable', message: 'The database is unavailable.' }
        await page.route(`${origin}/api/v1/links?*`, (route) =>
          route.fulfill({ status: 503, json: unavailable }),
        )
        await page.getByRole('searchbox').fill('link-1')
        await page.getByText('Redirects continue').waitFor()
        await page.unroute(`${origin}/api/v1/links?*`)
        await page.getByText('1 – 11').waitFor()
        await page.getByText('Redirects continue').waitFor({ state: 'detached' })
        faults.splice(0)
      })
    })

    test('finds links and commands in the palette', async () => {
      await on('/links', async (page) => {
        await page.getByText('link-59').first().waitFor()
        await page.keyboard.press('Control+k')
        await page
          .getByRole('combobox', { name: 'Search links, or type a command' })
          .fill('link-42')
        await page.getByRole('option', { name: /localhost\/link-42/ }).waitFor()
        assert.deepEqual(await violationsOf(page), [])
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { name: 'localhost/link-42' }).waitFor()
      })
    })

    test('acts on the link that is highlighted in the palette', async () => {
      await on('/links', async (page) => {
        await page.getByText('link-59').first().waitFor()
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox', { name: /^Search links/ }).fill('link-4')
        await page.getByRole('group', { name: 'With localhost/link-49' }).waitFor()
        await page.keyboard.press('ArrowDown')
        const group = page.getByRole('group', { name: 'With localhost/link-48' })
        await group.getByRole('option', { name: 'Copy short link' }).click()
        await expectCopied(page, /^http:\/\/localhost:\d+\/link-48$/)
      })
    })

    test('deletes more links than one request may name, and shows how far it is', async () => {
      await on('/links', async (page, { origin }) => {
        const ids = Array.from({ length: 1_200 }, () => crypto.randomUUID())
        const csv = ['id', ...ids].map((id) => `"${id}"\r\n`).join('')
        await page.route(`${origin}/api/v1/links/export?fields=id`, (route) =>
          route.fulfill({ body: csv, contentType: 'text/csv' }),
        )
        const sent: number[] = []
        const last = Promise.withResolvers<void>()
        await page.route(`${origin}/api/v1/links/bulk`, async (route) => {
          const { ids: part } = route.request().postDataJSON() as { ids: readonly string[] }
          sent.push(part.length)
          if (sent.length === 2) await last.promise
          const results = part.map((id, index) => ({ index, id, status: 'succeeded' }))
          await route.fulfill({ json: { done: true, results } })
        })
        await page.getByRole('checkbox', { name: 'Select localhost/link-50', exact: true }).check()
        await page.getByRole('button', { name: /^Select all \d\d$/ }).click()
        await page.getByText('1,201 selected').waitFor()
        await page.getByRole('button', { name: 'Delete', exact: true }).click()
        const dialog = page.getByRole('dialog', { name: 'Delete 1,201 links?' })
        await dialog.getByRole('textbox').fill('1201')
        await dialog.getByRole('button', { name: 'Delete' }).click()
        await page.getByRole('dialog', { name: '1,000 of 1,201 links' }).waitFor()
        last.resolve()
        await page.getByText('1,201 links deleted').waitFor()
        assert.deepEqual(sent, [1_000, 201])
      })
    })

    test('makes a copy of the link below the pointer', async () => {
      await on('/links', async (page) => {
        await page.getByTitle('localhost/link-40', { exact: true }).hover()
        await page.keyboard.press('d')
        await page.getByRole('heading', { name: 'New link' }).waitFor()
        const destination = page.getByLabel('Destination', { exact: true })
        await destination.waitFor()
        assert.equal(await destination.inputValue(), 'https://example.com/40')
        assert.equal(await page.getByLabel('Key', { exact: true }).inputValue(), '')
        await page.getByRole('button', { name: 'Remove even' }).waitFor()
      })
    })

    test('downloads the links that match as CSV', async () => {
      await on('/links?search=link-42', async (page) => {
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: 'Download as CSV' }).click(),
        ])
        assert.equal(file.suggestedFilename(), 'links.csv')
        const parts: Buffer[] = []
        for await (const part of await file.createReadStream()) parts.push(part)
        const lines = Buffer.concat(parts).toString().trimEnd().split('\r\n')
        assert.equal(lines.length, 2)
        assert.match(lines[1] ?? '', /,"localhost","link-42",/)
      })
    })

    test('makes a QR code with the chosen margin and error correction', async () => {
      await on(`/links/${linkId}`, async (page) => {
        await page.getByText('Size, margin, error correction').click()
        await page.getByLabel('Margin').selectOption('2')
        await page.getByLabel('Error correction').selectOption('H')
        await page.getByLabel('Width of the PNG').selectOption('512')
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: 'PNG' }).click(),
        ])
        const parts: Buffer[] = []
        for await (const part of await file.createReadStream()) parts.push(part)
        const { text, quietZone, errorLevel, side } = scan(Buffer.concat(parts))
        assert.equal(text, `http://localhost:${service.port}/link-59`)
        assert.deepEqual(quietZone.map(Math.round), [2, 2, 2, 2])
        assert.equal(errorLevel, 'H')
        assert.ok(side >= 512)
      })
    })

    test('takes back one act after the other with Z', async () => {
      await on('/links', async (page) => {
        await keepUndoOffers(page)
        for (const key of ['link-58', 'link-57']) {
          await page.getByRole('button', { name: `Actions for ${key}` }).click()
          await page.getByRole('menuitem', { name: 'Delete' }).click()
          await page.getByTitle(`localhost/${key}`).waitFor({ state: 'detached' })
        }
        await page.keyboard.press('z')
        await page.getByTitle('localhost/link-57').waitFor()
        await page.keyboard.press('z')
        await page.getByTitle('localhost/link-58').waitFor()
      })
    })

    test('saves a link with the tag that is still being typed', async () => {
      await on('/links/new?url=https://example.com/typed&key=typed', async (page) => {
        await page.getByLabel('Tags').fill('half')
        await page.keyboard.press('Control+Enter')
        await page.getByText('Link created').waitFor()
      })
      const api = await service.api()
      const { body } = await api.get('/links?search=typed')
      assert.deepEqual(body.data[0].tags, ['half'])
    })
  })
}
