import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectNoSidewaysScroll } from '../support/accessibility.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { type Dashboard, type DashboardOptions, inDashboard } from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { createLink } from '../support/links.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

const DAY_MS = 24 * 3_600_000

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('the options of links in Chromium', { skip: skipWithout('chromium') }, () => {
    let browser: Browser
    let service: Service
    let api: Api
    before(async () => {
      browser = await launchChromium()
      service = await startService(engine)
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

    const optionsOf = async (id: string) =>
      expectStatus(await api.get(`/links/${id}/options`), 200).body

    const open = (page: Page, name: string) =>
      page.getByRole('button', { name, expanded: false }).press('Enter')

    test('are set in the form by keyboard, and shown where it is opened again', async () => {
      await on('/links/new?url=https://example.com/&key=limited', async (page, { origin }) => {
        await open(page, 'Limits and dates')
        await page.getByLabel('Starts').fill('2030-05-01T09:00')
        await page.getByLabel('Clicks at most').fill('15000')
        await open(page, 'Path and query')
        await page.getByLabel('Path behind the key').selectOption('append')
        await page.getByLabel('Visitor’s query').selectOption('drop')
        await open(page, 'Note')
        await page.getByRole('textbox', { name: 'Note' }).fill('On the flyer\nof May')
        await page.getByText('After 15,000 clicks:').waitFor()
        await page.getByText('The visitor’s own query is left out.').waitFor()
        await page.getByRole('button', { name: 'Create link' }).click()
        await page.getByText('Link created and copied').waitFor()
        const { body } = await api.get('/links?key=limited&include=options')
        const { id, options } = body.data[0]
        const set = {
          active_from: '2030-05-01T07:00:00.000000Z',
          max_clicks: 15_000,
          path: 'append',
          query: 'drop',
          notes: 'On the flyer\nof May',
        }
        assert.deepEqual(options, { ...(await optionsOf(id)), ...set })

        await page.goto(`${origin}/app/links/${id}/edit`)
        assert.equal(await page.getByLabel('Clicks at most').inputValue(), '15000')
        assert.equal(await page.getByLabel('Starts').inputValue(), '2030-05-01T09:00')
        await page.getByText('at most 15,000 clicks, from').waitFor()
        await page.getByLabel('Clicks at most').fill('')
        await page.getByLabel('Path behind the key').selectOption('none')
        await page.keyboard.press('Control+Enter')
        await page.getByText('Changes saved').waitFor()
        assert.deepEqual(await optionsOf(id), {
          ...options,
          ...{ max_clicks: null, clicks_left: null, path: 'none' },
        })
      })
    })

    test('that are wrong are named at their fields, and their section opens', async () => {
      await on('/links/new?url=https://example.com/', async (page, { faults }) => {
        await open(page, 'Limits and dates')
        await page.getByLabel('Clicks at most').fill('many')
        await page.getByLabel('Starts').fill('2030-05-01T09:00')
        await page.getByLabel('Expires').fill('2030-04-01T09:00')
        await page.getByRole('button', { name: 'Create link' }).click()
        await page.getByText('Type a whole number from 1 to 1,000,000,000.').waitFor()
        await page.getByText('The link expires before it starts.').waitFor()
        await page.getByLabel('Clicks at most').fill('3')
        await page.getByLabel('Expires').fill('')
        await open(page, 'Note')
        await page.getByRole('textbox', { name: 'Note' }).fill('n'.repeat(4_001))
        await page.getByRole('button', { name: 'Note', expanded: true }).click()
        await page.getByRole('button', { name: 'Create link' }).click()
        await page
          .getByText(/at most 4,?000 characters/)
          .first()
          .waitFor()
        await page.getByRole('textbox', { name: 'Note' }).waitFor()
        // The browser reports the 422 that this test made.
        faults.splice(0)
      })
    })

    test('are the marks of a link in the list, and what its page says', async () => {
      const link = await createLink(api, {
        key: 'marked',
        max_clicks: 500,
        active_from: new Date(Date.now() + DAY_MS).toISOString(),
        expires_at: new Date(Date.now() + 9 * DAY_MS).toISOString(),
        query: 'drop',
        notes: 'Keep the key',
        password: 'secret-of-it',
      })
      const rules = [{ when: { device: ['phone'] }, then: { url: 'https://m.test/' } }]
      expectStatus(await api.put(`/links/${link.id}/rules`, { rules }), 200)
      await on('/links?search=marked', async (page, { origin }) => {
        const row = page.getByRole('row').filter({ hasText: 'marked' })
        const marks = row.getByRole('button', {
          name: /^1 rule, 0 of at most 500 clicks, Starts on .+Expires on .+Protected by a password$/,
        })
        await marks.getByText('+3').waitFor()
        await row.getByRole('link').focus()
        await page.keyboard.press('ArrowRight')
        await page.keyboard.press('ArrowRight')
        await page.getByRole('tooltip').getByText('Leaves out the visitor’s query').waitFor()
        await page.goto(`${origin}/app/links/${link.id}`)
        const says = page.getByRole('list', { name: 'What this link does' })
        await says.getByText('At most 500 clicks, then the domain’s page').waitFor()
        await says.getByText('before, it leads nowhere').waitFor()
        await page.getByText('Keep the key').waitFor()
      })
    })

    test('are copied with the rules and the set of a link, and are a filter of the list', async () => {
      const rules = [
        { id: 'de', when: { country: ['DE'] }, then: { url: 'https://example.com/de' } },
      ]
      const set = expectStatus(await api.post('/rule-sets', { name: 'Shops', rules }), 201).body
      const fields = { key: 'original', rule_set: set.id, max_clicks: 7, title: 'Sale' }
      const { id } = await createLink(api, fields)
      expectStatus(await api.put(`/links/${id}/rules`, { rules }), 200)
      await on(`/links/${id}`, async (page) => {
        await page.getByRole('link', { name: 'Shops' }).waitFor()
        await page.getByText('7 left').waitFor()
        await page.keyboard.press('d')
        await page.getByText('A copy. It gets the 1 rule of the original too').waitFor()
        await page.getByRole('textbox', { name: 'Key' }).fill('copied')
        await page.getByRole('button', { name: 'Create link' }).click()
        await page.getByText('Link created and copied').waitFor()
        const copy = (await api.get('/links?key=copied&include=options')).body.data[0]
        await eventually(async () => {
          const copied = (await api.get(`/links/${copy.id}/rules`)).body.rules
          assert.deepEqual(copied, [{ ...rules[0], id: copied[0].id }])
        })
        const { rule_set, max_clicks, title } = copy.options
        assert.deepEqual([rule_set, max_clicks, title], [set.id, 7, 'Sale'])
        await page.goto(page.url().replace(/app\/.*/, 'app/links'))
        await page.getByRole('button', { name: 'Does' }).click()
        await page.getByRole('menuitemcheckbox', { name: 'Rules', exact: true }).click()
        await page.getByRole('menuitemcheckbox', { name: 'Rule set', exact: true }).click()
        await page.getByRole('menuitemcheckbox', { name: 'Limit of clicks' }).click()
        await page.keyboard.press('Escape')
        await page.getByText('2 links').first().waitFor()
        assert.match(page.url(), /does=rules&does=rule_set&does=limit/)
      })
    })

    test('archive a link from its row, in bulk and from its page, each with Undo', async () => {
      const { id } = await createLink(api, { key: 'autumn-1' })
      const other = await createLink(api, { key: 'autumn-2' })
      const isArchived = async (isIt: boolean) =>
        eventually(async () => assert.equal((await optionsOf(id)).archived, isIt))
      await on('/links?search=autumn-', async (page, { origin }) => {
        const row = (key: string) => page.getByRole('row').filter({ hasText: key })
        await row('autumn-1').getByRole('button', { name: 'Actions for' }).click()
        await page.getByRole('menuitem', { name: 'Archive' }).click()
        await page.getByText('Archived localhost/autumn-1').waitFor()
        await row('autumn-1').waitFor({ state: 'detached' })
        await isArchived(true)
        await page.getByRole('button', { name: 'Undo' }).click()
        await row('autumn-1').waitFor()
        await isArchived(false)

        await page.getByLabel('Select all on this page').check()
        const bar = page.getByRole('toolbar', { name: 'Selected links' })
        await bar.getByRole('button', { name: 'Archive' }).click()
        await page.getByText('2 links archived').waitFor()
        await page.getByText('No link matches').waitFor()
        assert.equal((await optionsOf(other.id)).archived, true)

        await page.getByRole('button', { name: 'Archived' }).click()
        await page.getByRole('menuitemradio', { name: 'Archived links only' }).click()
        await row('autumn-1')
          .getByRole('button', { name: 'Archived: lists leave it out' })
          .waitFor()
        await row('autumn-2').getByRole('checkbox').check()
        await bar.getByRole('button', { name: 'Unarchive' }).click()
        await row('autumn-2').waitFor({ state: 'detached' })

        await page.goto(`${origin}/app/links/${id}`)
        await page.getByText('This link is archived').waitFor()
        await page.getByRole('button', { name: 'Unarchive' }).click()
        await page.getByText('localhost/autumn-1 is out of the archive').waitFor()
        await page.getByText('This link is archived').waitFor({ state: 'detached' })
        await isArchived(false)
      })
    })

    test('appear in the history of a link, where a change is undone and an earlier state restored', async () => {
      const { id } = await createLink(api, { key: 'told', url: 'https://acme.test/first' })
      for (const change of [
        { url: 'https://acme.test/second' },
        { max_clicks: 5_000, archived: true },
        { url: 'https://acme.test/third', password: 'of-the-link' },
      ]) {
        expectStatus(await api.patch(`/links/${id}`, change), 200)
      }
      await on(`/links/${id}`, async (page) => {
        await page.getByText(/^4 changes, the last by test: /).click()
        const entries = page.locator('.log > li')
        const told = (text: string) => entries.filter({ hasText: text })
        await told(
          'test changed the destination from acme.test/first to acme.test/second',
        ).waitFor()
        await told('test set the limit of clicks to 5,000').waitFor()
        await told('test archived this link').waitFor()
        await told('test changed the password').waitFor()
        await told('test created this link').waitFor()
        await expectNoSidewaysScroll(page)

        await told('acme.test/third').getByRole('button', { name: 'Undo' }).click()
        const dialog = page.getByRole('dialog')
        await dialog.getByText('No log has the earlier value of the password: it stays.').waitFor()
        await dialog.getByText('https://acme.test/second').waitFor()
        await dialog.getByRole('button', { name: 'Undo' }).click()
        await page.getByText('Change undone').waitFor()
        await told('from acme.test/third to acme.test/second').waitFor()

        await told('created this link').getByRole('button', { name: 'Return to this' }).click()
        await dialog.getByRole('button', { name: 'Return to this' }).click()
        await page.getByText('Link is as it was then').waitFor()
        await told('took this link out of the archive').waitFor()
        const link = expectStatus(await api.get(`/links/${id}?include=options`), 200).body
        assert.deepEqual(
          [link.url, link.options.max_clicks, link.options.archived],
          ['https://acme.test/first', null, false],
        )
        assert.notEqual(link.password, null)
      })
    })

    test('say why a change is not undone', async () => {
      const { id } = await createLink(api, { key: 'once' })
      expectStatus(await api.patch(`/links/${id}`, { key: 'twice' }), 200)
      await createLink(api, { key: 'once' })
      await on(`/links/${id}`, async (page, { faults }) => {
        await page.getByText(/^2 changes, the last by test: /).click()
        await page.getByRole('button', { name: 'Undo' }).click()
        const dialog = page.getByRole('dialog')
        await dialog.getByRole('button', { name: 'Undo' }).click()
        await dialog.getByText(/is taken on this domain/i).waitFor()
        // The browser reports the 422 that this test made.
        faults.splice(0)
      })
    })

    test('fit a phone in German', async () => {
      await on(
        '/links/new?url=https://example.com/',
        async (page) => {
          for (const name of ['Grenzen und Daten', 'Pfad und Parameter', 'Notiz']) {
            await open(page, name)
          }
          await page.getByLabel('Klicks höchstens').fill('3')
          await expectNoSidewaysScroll(page)
        },
        { locale: 'de-DE', width: 390, height: 844 },
      )
    })
  })
}
