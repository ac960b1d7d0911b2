import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectNoSidewaysScroll } from '../support/accessibility.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { expectFocusIn, inDashboard, keepUndoOffers } from '../support/dashboard.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { PASSWORD } from '../support/person-client.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'
import { settle } from '../support/settled.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

const LINKS = 40
/** Exists in the browser; this file is compiled without the types of a page. */
declare function getComputedStyle(node: unknown): { readonly backgroundColor: string }

/** As a window of 1,280 px shows at 200 %. */
const ZOOMED = { width: 640, height: 400 }
/** For longer than this, a list is loaded again when its tab is looked at. */
const FRESH_MS = 5_000
/** With at most 4 s without an answer, this is less than ten seconds. */
const CHECKED_AFTER_MS = 5_000
const RETRIED_AFTER_MS = 2_000

const PAGES = [
  ['/links', 'Links'],
  ['/links/new', 'New link'],
  ['/analytics', 'Analytics'],
  ['/domains', 'Domains'],
  ['/tags', 'Tags'],
  ['/tags/utm-templates', 'UTM templates'],
  ['/settings/members', 'Members'],
  ['/settings/connect', 'Connect'],
  ['/settings/profile', 'Profile'],
  ['/settings/instance', 'Instance'],
] as const

// Storage plays no part here: one engine is enough.
describe('the dashboard under unusual conditions', { skip: skipWithout('chromium') }, () => {
  let browser: Browser
  let service: Service
  let api: Api
  before(async () => {
    browser = await launchChromium()
    service = await startService(SQLITE)
    api = await service.api()
    const links = Array.from({ length: LINKS }, (_, nth) => ({
      domain: 'localhost',
      key: `link-${nth}`,
      url: 'https://example.com/',
      tags: ['spring'],
    }))
    expectStatus(await api.post('/links/bulk', { action: 'create', links }), 200)
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  const on = (path: string, use: Parameters<typeof inDashboard>[3]) =>
    inDashboard(browser, service, path, use, { alone: true })

  test('restores scroll and selection with Back and Forward', async () => {
    await on('/links', async (page) => {
      const last = page.getByRole('checkbox', { name: 'Select localhost/link-0', exact: true })
      await last.check()
      const scrolled = () => page.evaluate('scrollY')
      await eventually(async () => assert.ok(Number(await scrolled()) > 0))
      const before = await scrolled()
      await page.getByTitle('localhost/link-0', { exact: true }).click()
      await page.getByRole('heading', { name: 'localhost/link-0' }).waitFor()
      await eventually(async () => assert.equal(await scrolled(), 0))
      await page.goBack()
      await last.waitFor()
      assert.equal(await last.isChecked(), true)
      await eventually(async () => assert.equal(await scrolled(), before))
      await page.goForward()
      await page.getByRole('heading', { name: 'localhost/link-0' }).waitFor()
      await page.goBack()
      await eventually(async () => assert.equal(await scrolled(), before))
    })
  })

  test('shows in one tab what another has changed, when it is looked at', async () => {
    await on('/links', async (page, { context, origin }) => {
      await page.getByTitle('localhost/link-1', { exact: true }).waitFor()
      await page.clock.install()
      const other = await context.newPage()
      await other.goto(`${origin}/app/links/new?url=https://example.com/&key=other-tab`)
      await other.getByRole('button', { name: 'Create link' }).click()
      await other.getByText('Link created').waitFor()
      await page.clock.fastForward(FRESH_MS + 1)
      await page.evaluate("dispatchEvent(new Event('visibilitychange'))")
      await page.getByTitle('localhost/other-tab').waitFor()
    })
  })

  test('asks to sign in where another tab has signed out, and keeps what was typed', async () => {
    await on('/links/new', async (page, { context, faults, origin }) => {
      await page.getByLabel('Destination').fill('https://example.com/kept')
      const other = await context.newPage()
      await other.goto(`${origin}/app/settings/profile`)
      await other.getByRole('button', { name: /Ada Lovelace/ }).click()
      await other.getByRole('menuitem', { name: 'Licences' }).waitFor()
      await other.getByRole('menuitem', { name: 'Sign out' }).click()
      await other.getByRole('heading', { name: 'Sign in' }).waitFor()
      await page.getByRole('button', { name: 'Create link' }).click()
      const dialog = page.getByRole('dialog', { name: 'Sign in' })
      await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByText('Link created').waitFor()
      await other.goto(`${origin}/app/links?url=https://example.com/kept`)
      await other.getByText('example.com/kept').first().waitFor()
      // The browser reports the 401.
      faults.splice(0)
    })
  })

  test('shows nothing before its styles have come', async () => {
    await on('/links/new', async (page) => {
      await page.addInitScript(`
        new MutationObserver((_, observer) => {
          if (!document.getElementById('app')?.hasChildNodes()) return
          window.sheetsAtFirst = document.styleSheets.length
          observer.disconnect()
        }).observe(document, { subtree: true, childList: true })
      `)
      await page.route('**/*.css', async (route) => {
        await new Promise((done) => setTimeout(done, 1_000))
        await route.continue()
      })
      await page.reload()
      await page.getByLabel('Destination', { exact: true }).waitFor()
      assert.equal(await page.evaluate('sheetsAtFirst'), 1)
    })
  })

  test('says that there is no connection, and recovers', async () => {
    await on('/links', async (page, { context, faults }) => {
      await page.getByTitle('localhost/link-1', { exact: true }).waitFor()
      await context.setOffline(true)
      await page.getByRole('searchbox').fill('link-2')
      await page.getByRole('alert').getByText('No connection to the service.').waitFor()
      assert.equal(await page.getByRole('searchbox').inputValue(), 'link-2')
      await context.setOffline(false)
      await page.getByText('1 – 11').waitFor()
      await page.getByRole('alert').waitFor({ state: 'detached' })
      // The browser reports the request that failed.
      faults.splice(0)
    })
  })

  for (const fault of ['cut', 'hold'] as const) {
    const how = fault === 'cut' ? 'refuses connections' : 'answers nothing'
    test(`notices on a page at rest that the service ${how}, and recovers`, async () => {
      const port = await freePort()
      const proxy = await startTcpProxy({ host: '127.0.0.1', port })
      const resting = await startService(SQLITE, {
        TERSE_PORT: String(port),
        TERSE_BASE_URL: `http://localhost:${proxy.port}`,
      })
      try {
        const reached = { ...resting, port: proxy.port }
        await inDashboard(
          browser,
          reached,
          '/tags',
          async (page, { faults }) => {
            await page.clock.install()
            await settle(page)
            proxy[fault]()
            await page.clock.fastForward(CHECKED_AFTER_MS)
            const note = page.getByRole('alert').getByText('No connection to the service.')
            await note.waitFor()
            proxy.mend()
            await page.clock.fastForward(RETRIED_AFTER_MS)
            await note.waitFor({ state: 'detached' })
            // The browser reports the requests that failed.
            faults.splice(0)
          },
          { alone: true },
        )
      } finally {
        await resting.stop()
        await proxy.close()
      }
    })
  }

  test('says at its field that an external ID is no number, and asks for the password of a copy', async () => {
    const locked = { domain: 'localhost', key: 'locked', url: 'https://example.com/' }
    const fields = { ...locked, password: 'a good secret', external_id: 7 }
    const { body } = expectStatus(await api.post('/links', fields), 201)
    const read = async (path: string) => expectStatus(await api.get(`/links${path}`), 200).body
    await on(`/links/${body.id}/edit`, async (page, { origin }) => {
      const field = page.getByLabel('External ID')
      await field.fill('order-17')
      await page.getByRole('button', { name: 'Save changes' }).click()
      await page.getByText('Type a whole number').waitFor()
      assert.equal(await field.getAttribute('aria-invalid'), 'true')
      assert.equal((await read(`/${body.id}`)).external_id, 7)
      await field.fill('17')
      await page.getByRole('button', { name: 'Save changes' }).click()
      await page.getByText('Changes saved').waitFor()
      assert.equal((await read(`/${body.id}`)).external_id, 17)

      await page.goto(`${origin}/app/links/new?from=${body.id}`)
      await page.getByLabel('Password').waitFor()
      await page.getByRole('button', { name: 'Create link' }).click()
      await page.getByRole('status').filter({ hasText: '1 field has an error' }).waitFor()
      assert.equal((await read('?url=https://example.com/&search=locked')).meta.total, 1)
      await page.getByRole('button', { name: 'Without a password' }).click()
      await page.getByRole('button', { name: 'Create link' }).click()
      await page.getByText('Link created').waitFor()
    })
  })

  test('ends a selection when another filter is chosen', async () => {
    await on('/links?tag=spring', async (page) => {
      await page.getByRole('checkbox', { name: 'Select localhost/link-1', exact: true }).check()
      await page.getByRole('button', { name: 'Clicks', exact: true }).click()
      await page.getByText('1 selected').waitFor()
      await page.getByRole('searchbox').fill('link-2')
      await page.getByTitle('localhost/link-1', { exact: true }).waitFor({ state: 'detached' })
      await page.getByText('1 selected').waitFor({ state: 'detached' })
      await page.getByRole('searchbox').fill('')
      const box = page.getByRole('checkbox', { name: 'Select localhost/link-1', exact: true })
      await box.waitFor()
      assert.equal(await box.isChecked(), false)
    })
  })

  test('keeps a form that could not be sent, and sends it once', async () => {
    await on('/links/new?key=offline', async (page, { context, faults }) => {
      await page.getByLabel('Destination').fill('https://example.com/offline')
      // The first input loads what messages are shown with. Chromium 150 does not load it again after a failure.
      await page.mouse.move(10, 10)
      await settle(page)
      await context.setOffline(true)
      const create = page.getByRole('button', { name: 'Create link' })
      await create.click()
      await page.getByText('No connection to the service.').first().waitFor()
      assert.equal(await page.getByLabel('Destination').inputValue(), 'https://example.com/offline')
      await context.setOffline(false)
      // The note may be about another request: a button refuses clicks until its own has failed.
      await settle(page)
      await create.click()
      await page.getByText('Link created').waitFor()
      faults.splice(0)
    })
    assert.equal((await api.get('/links?search=offline')).body.meta.total, 1)
  })

  test('fits on a phone with the longest texts', async () => {
    const url = `https://example.com/${'path/'.repeat(20)}?${'x'.repeat(300)}`
    const { body: link } = expectStatus(
      await api.post('/links', {
        ...{ domain: 'localhost', key: 'k'.repeat(190), url, ios: url, expired_redirect_url: url },
        ...{ expires_at: '2040-01-01T00:00:00Z', utm_campaign: 'c'.repeat(200) },
        tags: ['one', 'two', 'three'].map((tag) => tag.repeat(10)),
      }),
      201,
    )
    await on('/links', async (page, { origin }) => {
      await page.setViewportSize({ width: 360, height: 800 })
      const pages = [
        ['/links', 'Select all on this page'],
        [`/links/${link.id}`, 'Activity'],
        [`/links/${link.id}/edit`, 'What a visitor gets'],
        [`/links?search=${'y'.repeat(180)}`, 'No link matches'],
      ] as const
      for (const [path, text] of pages) {
        await page.goto(`${origin}/app${path}`)
        await page.getByText(text).or(page.getByLabel(text)).first().waitFor({ state: 'attached' })
        await expectNoSidewaysScroll(page)
      }
    })
    expectStatus(await api.delete(`/links/${link.id}`), 200)
  })

  test('fits at 200 %, shows borders in forced colours, and moves nothing', async () => {
    await on('/links', async (page, { origin }) => {
      await page.setViewportSize(ZOOMED)
      await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' })
      for (const [path, heading] of PAGES) {
        await page.goto(`${origin}/app${path}`)
        await page.getByRole('heading', { name: heading, exact: true }).first().waitFor()
        await expectNoSidewaysScroll(page)
        assert.deepEqual(await withoutBorder(page), [], path)
        assert.equal(await page.evaluate('document.getAnimations().length'), 0, path)
      }
      await page.setViewportSize({ width: 1_280, height: 800 })
      await page.goto(`${origin}/app/links`)
      const box = page.getByRole('checkbox', { name: 'Select localhost/link-1', exact: true })
      const ground = () => box.evaluate((node) => getComputedStyle(node).backgroundColor)
      const unchecked = await ground()
      await box.check()
      assert.notEqual(await ground(), unchecked)
    })
  })

  test('adds a domain, renames a tag and makes a template and a token by keyboard alone', async () => {
    await on('/domains', async (page, { origin }) => {
      await tabTo(page, 'Add domain')
      await page.keyboard.press('Enter')
      await expectFocusIn(page.getByRole('dialog', { name: 'Add a domain' }))
      await page.keyboard.type('keys.acme.example')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Details of keys.acme.example' }).waitFor()

      await page.goto(`${origin}/app/tags`)
      await page.getByRole('button', { name: 'Actions for spring' }).waitFor()
      await tabTo(page, 'Actions for spring')
      await page.keyboard.press('Enter')
      await page.getByRole('menu').locator(':focus').waitFor()
      await page.keyboard.type('Ren')
      await page.keyboard.press('Enter')
      await expectFocusIn(page.getByRole('dialog', { name: 'Rename spring' }))
      await page.keyboard.press('Control+A')
      await page.keyboard.type('summer')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Actions for summer' }).waitFor()

      await page.goto(`${origin}/app/tags/utm-templates`)
      await page.getByRole('button', { name: 'New template' }).first().waitFor()
      await tabTo(page, 'New template')
      await page.keyboard.press('Enter')
      await expectFocusIn(page.getByRole('dialog', { name: 'New UTM template' }))
      await page.keyboard.type('Newsletter')
      await page.keyboard.press('Tab')
      await page.keyboard.type('mail')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Actions for Newsletter' }).waitFor()

      await page.goto(`${origin}/app/settings/connect`)
      await page.getByRole('button', { name: 'Create token' }).waitFor()
      await tabTo(page, 'Create token')
      await page.keyboard.press('Enter')
      await expectFocusIn(page.getByRole('dialog'))
      await page.keyboard.type('By keyboard')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'Token By keyboard' }).waitFor()
      await eventually(async () => assert.equal(await focusedName(page), 'Copy token'))
      await tabTo(page, 'Done')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      // The focus returns.
      await eventually(async () => assert.equal(await focusedName(page), 'Create token'))
    })
  })

  // The last one: its links push the others to the second page.
  test('leads to the last page when the page is beyond it, and says when the last link has gone', async () => {
    const links = Array.from({ length: 51 }, (_, nth) => ({
      ...{ domain: 'localhost', key: `page-${nth}`, url: 'https://example.com/' },
      tags: ['pages'],
    }))
    expectStatus(await api.post('/links/bulk', { action: 'create', links }), 200)
    await on('/links?tag=pages&page=9', async (page, { origin }) => {
      const remove = async (key: string) => {
        await page.getByRole('button', { name: `Actions for ${key}` }).click()
        await page.getByRole('menuitem', { name: 'Delete' }).click()
      }
      await page.getByText('51 – 51').waitFor()
      assert.equal(new URL(page.url()).searchParams.get('page'), '2')
      await keepUndoOffers(page)
      await remove('page-0')
      await page.getByText('1 – 50').waitFor()
      await page.goto(`${origin}/app/links?search=page-33`)
      await page.getByText('1 – 1').waitFor()
      await keepUndoOffers(page)
      await remove('page-33')
      await page.getByRole('heading', { name: 'No link matches' }).waitFor()
      await page.getByRole('button', { name: /^Undo/ }).click()
      await page.getByTitle('localhost/page-33', { exact: true }).waitFor()
    })
  })
})

/** The controls that forced colours would leave without any sign of where they are. */
function withoutBorder(page: Page): Promise<unknown> {
  return page.evaluate(`
    [...document.querySelectorAll('.btn, .in, .cb, .sw')]
      .filter((node) => node.checkVisibility() && !node.matches('.in *'))
      .filter((node) => getComputedStyle(node).borderTopStyle === 'none')
      .map(({ outerHTML }) => outerHTML)
  `)
}

async function focusedName(page: Page): Promise<string> {
  return String(
    await page.evaluate(`
      document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText.trim()
    `),
  )
}

async function tabTo(page: Page, name: string): Promise<void> {
  const seen: string[] = []
  while (seen.length < 80) {
    await page.keyboard.press('Tab')
    const focused = await focusedName(page)
    if (focused.startsWith(name)) return
    seen.push(focused)
  }
  assert.fail(`Tab does not lead to ${name}: ${seen.join(', ')}`)
}
