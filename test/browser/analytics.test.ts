import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { expectAccessible, expectFit, violationsOf } from '../support/accessibility.ts'
import { launchChromium } from '../support/chromium.ts'
import { someClick } from '../support/clicks.ts'
import { inDashboard, openDashboard } from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { createLink } from '../support/links.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'
import { settle } from '../support/settled.ts'
import { seqOf, takeIn } from '../support/taken-clicks.ts'

const DAY_MS = 86_400_000
/** The last is too long for a phone. */
const KEYS = ['spring', 'summer', 'autumn-collection-of-the-whole-year']

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('the analytics of the dashboard in Chromium', { skip: skipWithout('chromium') }, () => {
    let browser: Browser
    let service: Service
    let links: readonly string[]
    before(async () => {
      browser = await launchChromium()
      // Charts of years ago are refused.
      service = await startService(engine, { TERSE_CLICK_RETENTION_DAYS: '365' })
      links = await makeYearOfClicks(service)
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
    const chart = (page: Page) => page.getByRole('slider')
    /** The chart with everything that belongs to it: the period before comes by itself. */
    async function wholeChart(page: Page): Promise<Locator> {
      await chart(page).waitFor()
      await settle(page)
      return chart(page)
    }
    const searchOf = (page: Page) => new URL(page.url()).searchParams

    test('are accessible and fit, light and dark, on a desktop and a phone', async () => {
      await on('/analytics?period=12m', async (page) => {
        await chart(page).waitFor()
        await page.getByRole('link', { name: /Germany/ }).waitFor()
        await expectAccessible(page)
        await page.getByRole('button', { name: 'Show as a table' }).click()
        await page.getByRole('row', { name: /Clicks/ }).waitFor()
        await page.getByRole('button', { name: /^All .*: Referrers$/ }).click()
        await page.getByRole('dialog', { name: 'Referrers' }).waitFor()
        await expectAccessible(page)
      })
    })

    test('keep every bar within its cell on a phone', async () => {
      await on(
        '/analytics',
        async (page) => {
          await page.getByRole('link', { name: /localhost\/autumn\S* \d/ }).waitFor()
          const overflowing = await page.evaluate(`
            [...document.querySelectorAll('.bars a')]
              .filter((bar) => {
                const right = bar.closest('.cell').getBoundingClientRect().right
                const inner = [bar, ...bar.children]
                return inner.some((part) => part.getBoundingClientRect().right > right)
              })
              .map((bar) => bar.textContent)`)
          assert.deepEqual(overflowing, [])
        },
        { width: 360 },
      )
    })

    test('read values with the arrow keys, and zoom in and out with the keyboard', async () => {
      await on('/analytics?timezone=UTC', async (page) => {
        await (await wholeChart(page)).focus()
        const today = String(await chart(page).getAttribute('aria-valuetext'))
        assert.match(today, /^\w{3} \d+ \w+: Clicks \d+, /)
        const read = (name: string) => chart(page).getAttribute(name)
        await page.keyboard.press('ArrowLeft')
        await eventually(async () => assert.notEqual(await read('aria-valuetext'), today))
        await page.keyboard.press('Home')
        await eventually(async () => assert.equal(await read('aria-valuenow'), '1'))
        await page.keyboard.press('Shift+ArrowRight')
        await page.keyboard.press('Shift+ArrowRight')
        await page.keyboard.press('Enter')
        await page.getByRole('button', { name: 'Zoom out' }).waitFor()
        assert.equal(searchOf(page).get('from'), dateBefore(29))
        assert.equal(searchOf(page).get('to'), dateBefore(26))
        await page.getByRole('button', { name: 'Zoom out' }).click()
        await page.getByText('Drag to zoom').waitFor()
        assert.equal(searchOf(page).get('from'), null)
      })
    })

    test('zoom into what is dragged over, and Back zooms out', async () => {
      await on('/analytics?timezone=UTC', async (page) => {
        const box = await (await wholeChart(page)).boundingBox()
        assert.ok(box)
        const y = box.y + box.height / 2
        await page.mouse.move(box.x + 1, y)
        await page.mouse.down()
        await page.mouse.move(box.x + (box.width * 10) / 29, y, { steps: 4 })
        await page.mouse.up()
        await page.waitForURL(/from=/)
        assert.equal(searchOf(page).get('from'), dateBefore(29))
        assert.equal(searchOf(page).get('to'), dateBefore(18))
        await page.goBack()
        await page.getByText('Drag to zoom').waitFor()
      })
    })

    test('are filtered by every value, which the address keeps', async () => {
      await on('/analytics', async (page) => {
        await page.getByRole('link', { name: /Austria/ }).click()
        await page.getByText('Country', { exact: true }).waitFor()
        assert.equal(searchOf(page).get('country'), 'AT')
        await page.getByRole('link', { name: /Desktop/ }).click()
        await page.getByText('Device', { exact: true }).waitFor()
        assert.equal(searchOf(page).get('device'), 'desktop')
        await page.reload()
        const set = page.getByRole('link', { name: /Austria/ })
        await set.waitFor()
        assert.equal(await set.getAttribute('aria-current'), 'true')
        // A click of another country: the list is not filtered by itself.
        await page.getByRole('link', { name: /Japan/ }).waitFor()
        await page
          .getByRole('link', { name: /Unknown/ })
          .first()
          .click()
        await page.waitForURL((url) => url.searchParams.getAll('country').join() === 'AT,')
        await page.getByRole('button', { name: 'Remove filter: Country Austria' }).click()
        await page.waitForURL((url) => url.searchParams.getAll('country').join() === '')
      })
    })

    test('show and mark what is set in every list, also without a click', async () => {
      const api = await service.api()
      const quiet = await createLink(api, { key: 'quiet' })
      const compared = `link=${links[0]}&link=${quiet.id}&country=BR&os=iOS`
      await on(`/analytics?${compared}`, async (page) => {
        const marked = page.locator('.bars a[aria-current="true"]')
        await page.getByRole('link', { name: /Brazil/ }).waitFor()
        await eventually(async () =>
          assert.deepEqual((await marked.allInnerTexts()).map(words), [
            'BR Brazil 0 0.0%',
            'localhost / spring 0 0.0%',
            'localhost / quiet 0 0.0%',
            'iOS 0 0.0%',
          ]),
        )
      })
      await on('/analytics?tag=season&tag=none', async (page) => {
        await page.getByRole('tab', { name: 'Tags' }).click()
        await page.getByRole('link', { name: /none/ }).waitFor()
        await page.getByRole('button', { name: /^All .*: Tags$/ }).click()
        const set = page.getByRole('dialog').locator('a[aria-current="true"]')
        await eventually(async () => assert.deepEqual(await set.allInnerTexts(), ['season']))
      })
    })

    test('count by UTM values of the links, which are filters too', async () => {
      await on('/analytics', async (page) => {
        await page.getByRole('tab', { name: 'Medium' }).click()
        await page.getByRole('link', { name: /email \d/ }).click()
        await page.waitForURL(/utm_medium=email/)
        await page.getByRole('link', { name: /localhost\/spring \d/ }).waitFor()
        await page.getByRole('tab', { name: 'Campaign' }).click()
        await page.getByRole('link', { name: /season-2026 \d.*100/ }).waitFor()
        await page.getByRole('button', { name: 'Remove filter: Medium email' }).click()
        await page.waitForURL((url) => !url.searchParams.has('utm_medium'))
      })
    })

    test('choose tabs by keyboard', async () => {
      await on('/analytics', async (page) => {
        await page.getByRole('tab', { name: /^Clicks/ }).focus()
        await page.keyboard.press('ArrowRight')
        await page.getByRole('slider', { name: /^Visitors by day/ }).waitFor()
        await page.keyboard.press('End')
        await page.getByRole('slider', { name: /^Bots and prefetches by day/ }).waitFor()
        assert.equal(searchOf(page).get('measure'), 'bots')
      })
    })

    test('are downloaded as CSV, the line and the values', async () => {
      await on('/analytics?timezone=UTC', async (page) => {
        await wholeChart(page)
        const lines = await download(page, /Clicks by day/)
        assert.equal(lines.length, 1 + 30)
        assert.match(lines[0] ?? '', /^"start","clicks","visitors","bots","compared_start",/)
        const countries = await download(page, /: Countries/)
        assert.deepEqual(countries[0], '"country","clicks"')
        assert.match(countries[1] ?? '', /^"DE","\d+"$/)
      })
    })

    test('speak German, with the same charts', async () => {
      await on(
        '/analytics?period=7d&country=DE',
        async (page) => {
          await page.getByRole('slider', { name: /^Klicks je Tag/ }).waitFor()
          await page.getByRole('link', { name: /Deutschland/ }).waitFor()
          assert.deepEqual(await violationsOf(page), [])
        },
        { locale: 'de-DE' },
      )
    })

    test('say that there are no clicks, and offer to clear filters', async () => {
      await on('/analytics?from=2020-01-01&to=2020-02-01', async (page, { faults }) => {
        await page.getByText('No clicks in this period').waitFor()
        // The API counts links only in the time of which it keeps single clicks.
        await eventually(async () => assert.match(String(faults), /422/))
        await settle(page)
        faults.length = 0
      })
      await on('/analytics?country=AQ', async (page) => {
        await page.getByText('No clicks match these filters').waitFor()
        assert.deepEqual(await violationsOf(page), [])
        await page.getByRole('button', { name: 'Clear filters' }).click()
        await page.getByText('No clicks match these filters').waitFor({ state: 'detached' })
      })
    })

    test('keep what they show while the API is unavailable, and recover', async () => {
      await on('/analytics', async (page, { faults, origin }) => {
        await page.getByRole('link', { name: /Germany/ }).waitFor()
        const json = { code: 'unavailable', message: 'The database is unavailable.' }
        const reports = `${origin}/api/v1/clicks?*`
        await page.route(reports, (route) => route.fulfill({ status: 503, json }))
        await page.getByRole('tab', { name: /^Bots/ }).click()
        await page.getByText('Redirects continue').waitFor()
        assert.ok(await page.getByRole('link', { name: /Germany/ }).isVisible())
        await page.unroute(reports)
        await page.getByText('Redirects continue').waitFor({ state: 'detached' })
        faults.splice(0)
      })
    })

    test('explain what cannot be counted', async () => {
      await on('/analytics?country=DE&os=iOS&from=2020-01-01&to=2021-01-01', async (page, at) => {
        await page.getByText('Filters of several kinds need single clicks').first().waitFor()
        assert.deepEqual(await violationsOf(page), [])
        // The browser reports the 422 of the API.
        at.faults.splice(0)
      })
    })

    test('compare up to five links, chosen by a search', async () => {
      await on('/analytics', async (page) => {
        await page.getByRole('button', { name: 'Compare links' }).click()
        const dialog = page.getByRole('dialog', { name: 'Compare links' })
        await dialog.getByRole('checkbox', { name: /spring/ }).check()
        await dialog.getByRole('searchbox').fill('summer')
        await dialog.getByRole('checkbox', { name: /summer/ }).check()
        await dialog.getByRole('button', { name: 'Show' }).click()
        await page.waitForURL((url) => url.searchParams.getAll('link').length === 2)
        await (await wholeChart(page)).focus()
        const read = String(await chart(page).getAttribute('aria-valuetext'))
        assert.match(read, /localhost\/spring \d+, localhost\/summer \d+$/)
        await expectFit(page)
        const lines = await download(page, /Clicks by day/)
        assert.equal(lines[0], '"start","localhost/spring","localhost/summer"')
        await page.getByRole('button', { name: /^Remove localhost\/spring/ }).click()
        await page.getByRole('tab', { name: /^Visitors/ }).waitFor()
      })
    })

    test('show visitors of compared links that are not known as missing', async () => {
      const query = `link=${links[0]}&link=${links[1]}&measure=visitors`
      await on('/tags', async (page, { origin }) => {
        // In the page: of requests that the driver intercepts, `settle` does not always see the end.
        await page.addInitScript((path) => {
          const request = globalThis.fetch
          globalThis.fetch = async (address, options) => {
            const response = await request(address, options)
            if (!String(address).includes(path)) return response
            type Counts = { visitors: number | null }
            const json = (await response.json()) as { total: Counts; data: Counts[] }
            for (const counts of [json.total, ...json.data]) counts.visitors = null
            return new Response(JSON.stringify(json), response)
          }
        }, `/api/v1/links/${links[0]}/clicks?`)
        await page.goto(`${origin}/app/analytics?${query}`)
        await (await wholeChart(page)).focus()
        const read = String(await chart(page).getAttribute('aria-valuetext'))
        assert.match(read, /localhost\/spring Unknown, localhost\/summer \d+$/)
        await page.getByText('How many visitors there were is not known').waitFor()
        const total = page.getByRole('list', { name: '2 links compared' }).getByRole('listitem')
        assert.match(await total.first().innerText(), /–/)
        assert.equal(await page.locator('.plot path.s1').first().getAttribute('d'), '')
      })
    })

    test('count by tag and by link, and only those with a tag', async () => {
      await on('/analytics', async (page) => {
        await page.getByRole('link', { name: /localhost\/spring \d/ }).waitFor()
        await page.getByRole('tab', { name: 'Tags' }).click()
        await page.getByRole('link', { name: /season/ }).click()
        await page.waitForURL(/tag=season/)
        await page.getByRole('tab', { name: 'Links' }).click()
        await page.getByRole('link', { name: /localhost\/spring \d/ }).waitFor()
        await page.getByRole('button', { name: 'Remove filter: Tag season' }).click()
        await page.waitForURL((url) => !url.searchParams.has('tag'))
      })
    })

    test('open from the page of a link with the value that was clicked', async () => {
      await on(`/links/${links[1]}`, async (page) => {
        await chart(page).waitFor()
        await page.getByRole('link', { name: /Germany/ }).click()
        await page.waitForURL(`**/app/analytics?link=${links[1]}&country=DE`)
        await page.getByRole('button', { name: 'Remove filter: Country Germany' }).waitFor()
      })
    })

    test('list rules and variants, which are filters too, only where some decided', async () => {
      const api = await service.api()
      const link = await createLink(api, { key: 'ruled' })
      const link_seq = await seqOf(service, link)
      const at = (Date.now() - 3_600_000) * 1_000
      await takeIn(service, [
        someClick({ at, link_seq, visitor: 1, rule: 'ab', variant: 'Größer' }),
        someClick({ at, link_seq, visitor: 2, rule: 'ab', variant: 'größer' }),
        someClick({ at, link_seq, visitor: 3 }),
      ])
      await on(`/analytics?link=${links[0]}`, async (page) => {
        await wholeChart(page)
        await page.getByRole('heading', { name: 'Referrers' }).waitFor()
        assert.equal(await page.getByRole('heading', { name: /Rules|Variants/ }).count(), 0)
      })
      await on(`/analytics?link=${link.id}`, async (page) => {
        await page.getByRole('heading', { name: 'Rules' }).waitFor()
        await page.getByRole('link', { name: /^ab 2/ }).waitFor()
        await page.getByRole('link', { name: /^No rule 1/ }).waitFor()
        await page.getByRole('link', { name: /^Größer 1/ }).click()
        await page.waitForURL(/variant=/)
        await page.getByRole('link', { name: /^ab 1/ }).waitFor()
        await expectAccessible(page)
        await page.getByRole('button', { name: 'Remove filter: Variant Größer' }).click()
        await page.getByRole('link', { name: /^ab 2/ }).waitFor()
      })
    })

    test('move nothing with reduced motion, and show lines in forced colours', async () => {
      const { page, context, faults, close } = await openDashboard(browser, service, '/analytics')
      await page.emulateMedia({ reducedMotion: 'reduce', forcedColors: 'active' })
      await wholeChart(page)
      const stroke = 'getComputedStyle(document.querySelector(".plot path.cur")).stroke'
      assert.notEqual(await page.evaluate(stroke), 'none')
      assert.deepEqual(faults, [])
      assert.equal(context.pages().length, 1)
      await close()
    })
  })
}

/** Without line ends and other spaces between the parts of a row. */
function words(text: string): string {
  return text.replace(/\s+/g, ' ')
}

function dateBefore(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
}

async function download(page: Page, name: RegExp): Promise<readonly string[]> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page
      .getByRole('button', { name: new RegExp(`Download CSV: ?${name.source.replace(/^: /, '')}`) })
      .click(),
  ])
  const parts: Buffer[] = []
  for await (const part of await file.createReadStream()) parts.push(part)
  return Buffer.concat(parts).toString().trimEnd().split('\r\n')
}

/** Makes three links, with clicks of a year from a few countries. Returns their ids. */
async function makeYearOfClicks(service: Service): Promise<readonly string[]> {
  const api = await service.api()
  const clicks = []
  const ids: string[] = []
  for (const [nth, key] of KEYS.entries()) {
    const { body } = await api.post('/links', {
      domain: 'localhost',
      key,
      url: `https://example.com/${key}`,
      tags: ['season'],
      ...(nth === 0 && { utm_medium: 'email' }),
      utm_campaign: 'season-2026',
    })
    ids.push(body.id)
    const seq = await seqOf(service, body)
    for (let day = 0; day < 365; day += 1) {
      for (let click = 0; click <= (day + nth) % 5; click += 1) {
        clicks.push(
          someClick({
            at: (Date.now() - day * DAY_MS - click * 60_000) * 1_000,
            link_seq: seq,
            visitor: 1 + day * 100 + click,
            flags: click === 4 ? 1 : 0,
            country: ['DE', 'AT', '', 'JP', 'DE'][click] ?? '',
            device: click === 0 ? 'mobile' : 'desktop',
            os: click === 0 ? 'iOS' : 'Windows',
            browser: 'Firefox',
            referrer: click === 1 ? '' : 'news.example',
            language: 'de',
            source: click === 2 ? 'qr' : 'direct',
          }),
        )
      }
    }
  }
  await takeIn(service, clicks)
  return ids
}
