import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { HttpExchange, sendPage } from '../../src/redirects/exchange.ts'
import type { PageTexts } from '../../src/redirects/pages/texts/page-texts.ts'
import { TEXTS } from '../../src/redirects/pages/texts/texts-by-language.ts'
import { renderVisitorPage, type VisitorPage } from '../../src/redirects/pages/visitor-page.ts'
import { violationsOf } from '../support/accessibility.ts'
import type { Api } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { type DestinationServer, startDestination } from '../support/destination-server.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

/** Exists in the browser; this file is compiled without the types of a page. */
declare const document: {
  readonly documentElement: {
    readonly scrollWidth: number
    readonly clientWidth: number
    readonly style: { fontSize: string }
  }
}
declare function getComputedStyle(node: unknown): {
  readonly fontSize: string
  readonly backgroundColor: string
  readonly borderTopColor: string
  readonly borderTopWidth: string
}

const PAGES: Readonly<Record<string, VisitorPage>> = {
  'unknown-host': { kind: 'unknown-host' },
  'not-found': { kind: 'not-found' },
  expired: { kind: 'expired', expiredAtMs: Date.UTC(2026, 7, 31) },
  password: { kind: 'password', isWrong: false },
  'wrong-password': { kind: 'password', isWrong: true },
  'too-many-attempts': { kind: 'too-many-attempts', waitSeconds: 42 },
  busy: { kind: 'busy', waitSeconds: 2 },
  unavailable: { kind: 'unavailable' },
  elsewhere: { kind: 'elsewhere' },
  'invalid-request': { kind: 'invalid-request' },
}

const HOST = 'a-rather-long-host-name.of-a-customer.example'

/** Every page in one document, one below the other. */
function allPagesIn(texts: PageTexts): string {
  const [first = '', ...others] = Object.entries(PAGES).map(([name, page]) => {
    const bytes = renderVisitorPage(page, texts, { host: HOST, path: `/${name}`, query: '' })
    return Buffer.from(bytes, 'latin1').toString()
  })
  const mains = others.map((html) => /<main>.*<\/main>/s.exec(html)?.[0])
  return first.replace('</body>', () => `${mains.join('')}</body>`)
}

const PHONE = { width: 360, height: 640 }
const DESKTOP = { width: 1280, height: 800 }

describe('the pages for visitors in Chromium', { skip: skipWithout('chromium') }, () => {
  let browser: Browser
  /** Answers each path with the page of that name. */
  let server: Server
  let origin: string

  before(async () => {
    browser = await launchChromium()
    server = createServer((request, response) => {
      const path = request.url ?? ''
      const page = PAGES[path.slice(1)] ?? { kind: 'not-found' }
      const target = { host: HOST, path, query: '' }
      sendPage(new HttpExchange(request, response, target), 200, page)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(async () => {
    await browser.close()
    server.closeAllConnections()
    server.close()
  })

  /** Runs `use` with a page, and fails for an error in its console or a request to another host. */
  async function withPage(
    options: BrowserContextOptions,
    use: (page: Page) => Promise<void>,
  ): Promise<void> {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text())
    })
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== origin) faults.push(request.url())
    })
    await use(page)
    assert.deepEqual(faults, [])
    await context.close()
  }

  async function assertNoSidewaysScroll(page: Page, what: string): Promise<void> {
    const { scrollWidth, clientWidth } = await page.evaluate(() => ({
      scrollWidth: document.documentElement.scrollWidth,
      clientWidth: document.documentElement.clientWidth,
    }))
    assert.ok(scrollWidth <= clientWidth, `${what}: ${scrollWidth} of ${clientWidth} px`)
  }

  test('are accessible, light and dark, on a phone and a desktop', async () => {
    await withPage({ viewport: PHONE, locale: 'en' }, async (page) => {
      for (const name of Object.keys(PAGES)) {
        await page.goto(`${origin}/${name}`)
        const grounds = new Set<string>()
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          assert.deepEqual(await violationsOf(page), [], name)
          const body = page.locator('body')
          grounds.add(await body.evaluate((node) => getComputedStyle(node).backgroundColor))
        }
        assert.equal(
          grounds.size,
          2,
          'the policy allows the page’s own style, which has two themes',
        )
        await assertNoSidewaysScroll(page, `${name} on a phone`)
        await page.setViewportSize(DESKTOP)
        await assertNoSidewaysScroll(page, `${name} on a desktop`)
        await page.setViewportSize(PHONE)
      }
    })
  })

  test('fits a phone with text of twice the size, in every language', async () => {
    await withPage({ viewport: PHONE }, async (page) => {
      for (const [language, texts] of TEXTS) {
        await page.setContent(allPagesIn(texts))
        await page.evaluate(() => {
          document.documentElement.style.fontSize = '200%'
        })
        assert.equal(await page.locator('main').count(), Object.keys(PAGES).length)
        await assertNoSidewaysScroll(page, language)
      }
    })
  })

  test('the field has text of 16 px, so that phones do not zoom into it', async () => {
    await withPage({ viewport: PHONE }, async (page) => {
      await page.goto(`${origin}/password`)
      const fontSize = await page
        .locator('#password')
        .evaluate((node) => getComputedStyle(node).fontSize)
      assert.equal(fontSize, '16px')
    })
  })

  test('forced colours show the button’s border', async () => {
    await withPage({ forcedColors: 'active' }, async (page) => {
      await page.goto(`${origin}/password`)
      const border = await page.getByRole('button').evaluate((node) => {
        const { borderTopWidth, borderTopColor } = getComputedStyle(node)
        return `${borderTopWidth} ${borderTopColor}`
      })
      assert.match(border, /^1px rgb\(/)
    })
  })
})

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('a visitor with a keyboard alone', { skip: skipWithout('chromium') }, () => {
    let browser: Browser
    let service: Service
    let api: Api
    let destination: DestinationServer
    before(async () => {
      browser = await launchChromium()
      service = await startService(engine)
      api = await service.api()
      destination = await startDestination()
    })
    after(async () => {
      await browser.close()
      await destination.close()
      await service.stop()
    })

    async function openProtected(locale: string): Promise<{ page: Page; key: string }> {
      const link = { domain: 'go.localhost', url: `${destination.origin}/arrived` }
      const { body } = await api.post('/links', { ...link, password: 'sesame' })
      const context = await browser.newContext({ locale, javaScriptEnabled: false })
      const page = await context.newPage()
      await page.goto(`http://go.localhost:${service.port}/${body.key}?a=1`)
      return { page, key: body.key }
    }

    const focusedId = (page: Page) => page.locator(':focus').getAttribute('id')

    test('comes through the password form, after a wrong password, to the destination', async () => {
      const { page } = await openProtected('de-AT')
      assert.equal(await page.locator('html').getAttribute('lang'), 'de')
      assert.equal(await focusedId(page), 'password')
      await page.keyboard.type('wrong')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').getByText('Das Passwort ist falsch.').waitFor()
      assert.equal(await focusedId(page), 'password')
      const field = page.getByLabel('Passwort')
      assert.equal(await field.getAttribute('aria-describedby'), 'wrong')
      assert.equal(await field.inputValue(), '')

      await page.keyboard.type('sesame')
      await page.keyboard.press('Tab')
      assert.equal(await page.locator(':focus').innerText(), 'Weiter')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${destination.origin}/arrived?a=1`)
    })

    test('returns from too many attempts to the form', async () => {
      const { page, key } = await openProtected('en')
      const wrong = {
        host: 'go.localhost',
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'password=wrong',
      }
      // A service whose threads have much to do refuses some without looking at the password.
      await eventually(async () => {
        assert.equal((await visit(service.port, `/${key}`, wrong)).status, 429)
      })
      assert.equal(await focusedId(page), 'password')
      await page.keyboard.type('sesame')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Too many attempts' }).waitFor()
      await page.keyboard.press('Tab')
      assert.equal(await page.locator(':focus').innerText(), 'Try again')
      const [request] = await Promise.all([page.waitForRequest(/./), page.keyboard.press('Enter')])
      assert.equal(request.method(), 'GET')
      assert.equal(new URL(request.url()).search, '?a=1')
      await page.getByLabel('Password').waitFor()
    })
  })
}
