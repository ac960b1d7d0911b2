import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { expectFit } from '../support/accessibility.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { type Dashboard, type DashboardOptions, inDashboard } from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { createLink } from '../support/links.ts'
import { pictureRequest } from '../support/operations.ts'
import { MAY_READ, startSite } from '../support/page-of-others.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

/** A picture of 120 by 63 pixels. */
function picture(): Buffer {
  const png = new PNG({ width: 120, height: 63 })
  for (let at = 0; at < png.data.length; at += 4) {
    png.data.set([40 + (at % 200), 120, 200 - (at % 90), 255], at)
  }
  return PNG.sync.write(png)
}

const FILE = { name: 'spring.png', mimeType: 'image/png', buffer: picture() }

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('the preview of a link in Chromium', { skip: skipWithout('chromium') }, () => {
    let browser: Browser
    let service: Service
    let api: Api
    before(async () => {
      browser = await launchChromium()
      service = await startService(engine, MAY_READ)
      api = await service.api()
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

    const open = (page: Page) =>
      page.getByRole('button', { name: 'Preview when shared', expanded: false }).press('Enter')

    test('is written, with a picture from a file, and shown as networks show it', async () => {
      await on('/links/new?url=https://example.com/&key=shared', async (page) => {
        await open(page)
        await page.getByLabel('Title', { exact: true }).fill('Spring sale')
        await page.getByLabel('Description', { exact: true }).fill('Everything for the garden')
        await page.getByText('Choose file').waitFor()
        await page.locator('input[type=file][accept*=webp]').setInputFiles(FILE)
        const card = page.locator('.share-card')
        const shown = card.locator('img')
        await shown.waitFor()
        await page.waitForFunction("document.querySelector('.share-card img').naturalWidth === 120")
        for (const look of ['Compact', 'Chat', 'Large card']) {
          await page.getByRole('button', { name: look }).click()
          await card.getByText('Spring sale').waitFor()
        }
        await page.getByRole('button', { name: 'Create link' }).click()
        await page.getByText('Link created and copied').waitFor()
        const { body } = await api.get('/links?key=shared&include=options')
        const { title, description, image } = body.data[0].options
        assert.deepEqual([title, description], ['Spring sale', 'Everything for the garden'])
        assert.match(image, /^https:\/\/localhost:\d+\/assets\/images\/[0-9a-f]{64}-120x63\.png$/)
      })
    })

    test('takes a picture that is dropped, and says why a file is none', async () => {
      await on('/links/new?url=https://example.com/&key=dropped', async (page, { faults }) => {
        await open(page)
        const drop = async (name: string, type: string, bytes: Buffer) => {
          const data = JSON.stringify({ name, type, bytes: bytes.toString('base64') })
          const transfer = await page.evaluateHandle(`{
            const { name, type, bytes } = ${data}
            const transfer = new DataTransfer()
            const file = Uint8Array.from(atob(bytes), (byte) => byte.charCodeAt(0))
            transfer.items.add(new File([file], name, { type }))
            transfer
          }`)
          await page.locator('.share-image').dispatchEvent('drop', { dataTransfer: transfer })
        }
        await drop('page.png', 'image/png', Buffer.from('<svg/>'))
        await page.getByText('must be a PNG, JPEG, WebP or GIF').waitFor()
        // The browser reports the 422 that this test made.
        faults.splice(0)
        await drop('spring.png', 'image/png', picture())
        await page.locator('.share-card img').waitFor()
        assert.equal(await page.getByText('must be a PNG').count(), 0)
      })
    })

    test('is taken from the destination, or the form says why not', async () => {
      await using site = await startSite((request, response) => {
        if (request.url === '/a.png') return response.end(picture())
        if (request.url !== '/') return response.writeHead(404).end()
        response.writeHead(200, { 'content-type': 'text/html' })
        response.end(
          '<title>Acme</title><meta property="og:title" content="Acme’s garden"><meta property="og:description" content="All in green"><meta property="og:image" content="/a.png">',
        )
      })
      await on(`/links/new?url=${encodeURIComponent(site.url)}`, async (page, { faults }) => {
        await open(page)
        await page.getByRole('button', { name: 'Take from destination' }).click()
        await page.locator('.share-card').getByText('All in green').waitFor()
        assert.equal(
          await page.getByLabel('Description', { exact: true }).inputValue(),
          'All in green',
        )
        await page.locator('.share-card img').waitFor()
        await page.getByLabel('Destination', { exact: true }).fill(`${site.url}nothing`)
        await page.getByRole('button', { name: 'Take from destination' }).click()
        await page.getByText(/Nothing could be taken: .*404/).waitFor()
        faults.splice(0)
      })
    })

    test('is cleared, and marked in the list while it is there', async () => {
      const link = await createLink(api, {
        key: 'cleared',
        title: 'Old',
        image: 'https://cdn.example/a.png',
      })
      await on('/links?search=cleared', async (page, { origin }) => {
        await page.getByRole('button', { name: 'Has its own preview when shared' }).waitFor()
        await page.goto(`${origin}/app/links/${link.id}/edit`)
        await page.getByText('Image on cdn.example').waitFor()
        await page.getByLabel('Title', { exact: true }).fill('')
        await page.getByLabel('Image', { exact: true }).fill('')
        await page.getByText('Nothing is set').waitFor()
        await page.keyboard.press('Control+Enter')
        await page.getByText('Changes saved').waitFor()
        const { body } = expectStatus(await api.get(`/links/${link.id}/options`), 200)
        assert.deepEqual([body.title, body.image], [null, null])
      })
    })

    for (const [theme, width, locale] of [
      ['light', 1_280, 'en'],
      ['dark', 1_280, 'de'],
      ['light', 360, 'de'],
      ['dark', 360, 'en'],
    ] as const) {
      test(`is readable, ${theme}, ${width} px wide, ${locale}`, async () => {
        const upload = pictureRequest(picture())
        const { body } = expectStatus(await api.send('POST', '/images', upload), 201)
        const link = await createLink(api, {
          title: 'A title that is so long that it takes more than one line in each of the cards',
          description:
            'And a description which is longer still, so that its end is cut off after two lines of it, however wide the card is.',
          image: body.url,
        })
        await on(
          `/links/${link.id}/edit`,
          async (page) => {
            await page.locator('.share-card').scrollIntoViewIfNeeded()
            for (const nth of [0, 1, 2]) {
              await page.locator('figure .seg button').nth(nth).click()
              await expectFit(page)
            }
          },
          { theme, width, locale },
        )
      })
    }
  })
}
