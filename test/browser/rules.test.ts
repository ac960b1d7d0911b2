import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectAccessible, expectNoSidewaysScroll } from '../support/accessibility.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import {
  type Dashboard,
  type DashboardOptions,
  dropRefusals,
  inDashboard,
  inPersonPage,
  keepUndoOffers,
} from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { invite, signIn } from '../support/person-client.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

const LINK = { domain: 'localhost', url: 'https://example.com/' }

/** One of each kind, for pictures and for what must be kept. */
const ALL_KINDS = [
  {
    id: 'all',
    name: 'Everything',
    when: {
      country: ['DE', 'europe'],
      device: ['phone'],
      os: ['ios'],
      browser: ['firefox'],
      language: ['pt-BR'],
      query: [
        { name: 'vip', equals: '1' },
        { name: 'ref', present: true },
      ],
      referrer: ['heise.de', 'none'],
      address: ['192.0.2.0/24'],
      time: [
        { weekdays: ['mon', 'fri'], hours: { from: '09:00', until: '24:00' }, zone: 'Asia/Tokyo' },
      ],
      label: ['news'],
      qr: true,
      bot: false,
      not: { os: ['android'], qr: true },
      any: [{ device: ['tablet'], country: ['US'] }, { bot: true }],
    },
    then: { url: 'https://example.com/all' },
  },
  {
    id: 'parts',
    when: {},
    then: {
      split: [
        { name: 'Shop', url: 'https://example.com/a', weight: 40 },
        { name: 'Quiz', url: 'https://example.com/b', weight: 40 },
        { name: 'Clock', url: 'https://example.com/c', weight: 20 },
      ],
      remember_days: 7,
      end: { at: '2040-01-01T00:00:00.000Z', variant: 'Quiz' },
    },
  },
]

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('the rules of a link in Chromium', { skip: skipWithout('chromium') }, () => {
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

    async function create(key: string, rules: readonly object[] = []): Promise<string> {
      const { id } = expectStatus(await api.post('/links', { ...LINK, key }), 201).body
      if (rules.length > 0) expectStatus(await api.put(`/links/${id}/rules`, { rules }), 200)
      return id
    }

    const rulesOf = async (id: string) => (await api.get(`/links/${id}/rules`)).body.rules

    const ruleFor = (country: string) => ({
      id: country.toLowerCase(),
      when: { country: [country] },
      then: { url: `https://example.com/${country.toLowerCase()}` },
    })

    const sentences = (page: Page) =>
      page.getByRole('list', { name: 'Rules, first match first' }).locator('.sent').allInnerTexts()

    test('shows where a made-up visitor goes by rules that are not saved, and why', async () => {
      const id = await create('panel', [ruleFor('DE'), ruleFor('AT')])
      await on(`/links/${id}/rules`, async (page) => {
        const panel = page.getByRole('complementary', { name: 'What a visitor gets' })
        await panel.getByLabel('Country').selectOption('AT')
        await panel.getByText('https://example.com/at').waitFor()
        await panel.getByText('No: Country is Austria.').waitFor()
        await panel.getByText('Yes: it decides.').waitFor()
        await panel.getByLabel('Query').fill('a=1')
        await panel.getByText('https://example.com/at?a=1').waitFor()
        await panel.getByText('query of the visitor').waitFor()
        // By rules that are not saved; the rules that are saved then keep to the example.
        await page.getByRole('button', { name: 'Actions for rule 2' }).click()
        await page.getByRole('menuitem', { name: 'Remove' }).click()
        await panel.getByText('https://example.com/?a=1').waitFor()
        await panel.getByRole('button', { name: 'Keep this one' }).click()
        await panel.getByLabel('Name of the example').fill('Austrians go home')
        await page.keyboard.press('Enter')
        await panel.getByRole('button', { name: 'Austrians go home', exact: true }).waitFor()
        await panel.locator('.kept .is-good').waitFor()
        await expectAccessible(page)
        await expectNoSidewaysScroll(page)
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByText('Rules saved').waitFor()
      })
      assert.equal((await rulesOf(id)).length, 1)
      const { examples } = (await api.get(`/links/${id}/examples`)).body
      assert.equal(examples[0].expected.location, 'https://example.com/?a=1')
    })

    test('explains a set that is chosen but not saved, for the path of a visitor', async () => {
      const set = { name: 'All', rules: [{ when: {}, then: { url: 'https://example.com/set' } }] }
      expectStatus(await api.post('/rule-sets', set), 201)
      const id = await create('tree')
      expectStatus(await api.patch(`/links/${id}/options`, { path: 'append' }), 200)
      await on(`/links/${id}/rules`, async (page, { faults }) => {
        const panel = page.getByRole('complementary', { name: 'What a visitor gets' })
        await page.getByRole('button', { name: 'Rule set', exact: true }).click()
        await page.getByRole('menuitem', { name: 'All' }).click()
        await panel.getByLabel('Path').fill('/tree/leaf')
        await panel.getByText('https://example.com/set/leaf').waitFor()
        await panel.getByText('path of the visitor').waitFor()
        expectStatus(await api.post('/links', { ...LINK, key: 'tree/branch' }), 201)
        await panel.getByLabel('Path').fill('/tree/branch')
        await panel.getByText('Leads to another link of this domain').waitFor()
        dropRefusals(faults, 1)
      })
    })

    test('edits groups of conditions, and marks a rule that is never reached', async () => {
      const id = await create('groups', [ruleFor('DE'), ruleFor('FR')])
      await on(`/links/${id}/rules`, async (page) => {
        const condition = page.getByRole('button', { name: 'Condition', exact: true })
        await page.getByRole('button', { name: /Germany/ }).click()
        await condition.click()
        await page.getByRole('menuitem', { name: 'One of several groups' }).click()
        const groups = page.getByRole('group', { name: 'One of several groups' })
        const explained = page.waitForResponse((response) =>
          (response.request().postData() ?? '').includes('"any":[{"qr":true},{"bot":true}]'),
        )
        for (const [nth, flag] of ['QR code', 'Bot'].entries()) {
          if (nth > 0) await groups.getByRole('button', { name: 'Group', exact: true }).click()
          const group = groups.getByRole('group', { name: `Group ${nth + 1}` })
          await group.getByRole('button', { name: 'Condition', exact: true }).click()
          await page.getByRole('menuitem', { name: flag }).click()
          await page.keyboard.press('Escape')
        }
        const text = 'one of these holds: they scanned a QR code; or it is a bot'
        await page.locator('.rule').getByText(text).waitFor()
        await explained
        await page.locator('.is-old').waitFor({ state: 'detached' })
        await expectAccessible(page)
        await page.getByRole('button', { name: 'Done' }).click()
        // A copy of a rule behind it is never reached.
        await page.getByRole('button', { name: 'Actions for rule 2' }).click()
        await page.getByRole('menuitem', { name: 'Duplicate' }).click()
        await page.getByText('Never reached: rule 2 takes these visitors.').waitFor()
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByText('Rules saved').waitFor()
      })
      assert.deepEqual((await rulesOf(id))[0].when, {
        country: ['DE'],
        any: [{ qr: true }, { bot: true }],
      })
    })

    test('shows rules and sets to viewers, who cannot change them', async () => {
      const rules = [ruleFor('DE')]
      const set = expectStatus(await api.post('/rule-sets', { name: 'Shops', rules }), 201).body
      const id = await create('read', [ruleFor('FR')])
      expectStatus(await api.patch(`/links/${id}/options`, { rule_set: set.id }), 200)
      const ada = await signIn(service)
      ada.workspaceId = (await service.instance.workspaces.get('acme')).id
      const vera = await invite(service, ada, 'vera', 'viewer')
      const use = async (page: Page) => {
        await page.getByRole('link', { name: 'Rules', exact: true }).click()
        await page.locator('.rules').getByText('the country is France').waitFor()
        await page.locator('.final').getByText('https://example.com/').waitFor()
        for (const name of ['Save changes', 'Rule', 'Keep this one']) {
          assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0)
        }
        await expectAccessible(page)
        await page.getByRole('link', { name: 'Show the set' }).click()
        await page.getByRole('heading', { name: 'Shops' }).waitFor()
        await page.locator('.rules').getByText('the country is Germany').waitFor()
      }
      await inPersonPage(browser, service, `/links/${id}`, use, { as: vera })
    })

    test('asks before a save that changes where an example leads', async () => {
      const id = await create('asked', [ruleFor('DE')])
      const examples = [{ name: 'A German', visitor: { country: 'DE' } }]
      expectStatus(await api.put(`/links/${id}/examples`, { examples }), 200)
      await on(`/links/${id}/rules`, async (page, { faults }) => {
        await page.getByRole('button', { name: 'Actions for rule 1' }).click()
        await page.getByRole('menuitem', { name: 'Remove' }).click()
        await page.getByText('Now: example.com').waitFor()
        await page.keyboard.press('Control+Enter')
        await page.getByText('This changes where examples of the link lead: A German').waitFor()
        await page.getByRole('button', { name: 'Save anyway' }).click()
        await page.getByText('Rules saved').waitFor()
        dropRefusals(faults, 1)
      })
      assert.deepEqual(await rulesOf(id), [])
    })

    test('adds a rule by keyboard, which the API then has', async () => {
      const id = await create('keys')
      await on(`/links/${id}`, async (page) => {
        await page.getByRole('link', { name: 'Rules' }).press('Enter')
        await page.getByRole('button', { name: 'Rule', exact: true }).press('Enter')
        await page.getByRole('button', { name: 'Condition', exact: true }).press('Enter')
        await page.getByRole('menuitem', { name: 'Country' }).press('Enter')
        await page.getByRole('combobox', { name: 'Find or type' }).waitFor()
        await page.locator('input[role=combobox]:focus').waitFor()
        await page.keyboard.type('germ')
        await page.keyboard.press('Enter')
        await page.keyboard.type('austria')
        await page.keyboard.press('Enter')
        await page.keyboard.press('Enter')
        await page.getByText('If the country is Germany or Austria').waitFor()
        await page.getByRole('button', { name: 'Condition', exact: true }).press('Enter')
        await page.getByRole('menuitem', { name: 'Device' }).press('Enter')
        await page.locator('input[role=combobox]:focus').waitFor()
        await page.keyboard.press('Space')
        await page.keyboard.press('Escape')
        await page.getByLabel('Destination of rule 1').fill('https://example.com/de')
        const text = 'If the country is Germany or Austria, and the device is a phone'
        await page.getByText(text).waitFor()
        await page.keyboard.press('Control+Enter')
        await page.getByText('Rules saved').waitFor()
        // The page of the link reads the same.
        await page.getByText(text).waitFor()
        await page.getByText('Everyone else').waitFor()
      })
      const [{ id: _, ...rule }] = await rulesOf(id)
      assert.deepEqual(rule, {
        when: { country: ['DE', 'AT'], device: ['phone'] },
        then: { url: 'https://example.com/de' },
      })
    })

    test('moves a rule by Alt and arrow keys and by its handle, and says where it is', async () => {
      const id = await create('order', ['DE', 'FR', 'IT'].map(ruleFor))
      await on(`/links/${id}/rules`, async (page) => {
        const first = page.getByRole('button', { name: /Germany/ })
        await first.press('Alt+ArrowDown')
        await page.getByRole('status').filter({ hasText: 'Now rule 2 of 3.' }).waitFor()
        await page.locator('.sent:focus', { hasText: 'Germany' }).waitFor()
        await page.keyboard.press('Alt+ArrowUp')
        await page.getByRole('status').filter({ hasText: 'Now rule 1 of 3.' }).waitFor()
        const box = await page.getByRole('button', { name: 'Move rule 3' }).boundingBox()
        const top = await page.locator('.rule').first().boundingBox()
        assert.ok(box !== null && top !== null)
        await page.mouse.move(box.x + 10, box.y + 10)
        await page.mouse.down()
        await page.mouse.move(box.x + 10, top.y + 2, { steps: 4 })
        await page.mouse.up()
        const [one, two, three] = await sentences(page)
        assert.match([one, two, three].join(), /Italy.*Germany.*France/s)
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByText('Rules saved').waitFor()
      })
      const ids = (await rulesOf(id)).map((rule: { id: string }) => rule.id)
      assert.deepEqual(ids, ['it', 'de', 'fr'])
    })

    test('shows what the API refuses at its field, until that is mended', async () => {
      const id = await create('faults', [ruleFor('DE')])
      await on(`/links/${id}/rules`, async (page, { faults }) => {
        await page.getByRole('button', { name: /Germany/ }).click()
        await page.getByLabel('Destination of rule 1').fill('nowhere')
        await page.getByRole('button', { name: 'Condition', exact: true }).click()
        await page.getByRole('menuitem', { name: 'Address' }).click()
        await page.getByRole('combobox', { name: 'Find or type' }).fill('10.0.0.0/99')
        await page.keyboard.press('Enter')
        await page.keyboard.press('Escape')
        await page.getByRole('button', { name: 'Save changes' }).click()
        const chip = page.getByRole('button', { name: 'Address 10.0.0.0/99', exact: true })
        await page.locator('.cond.is-bad').waitFor()
        assert.equal(await chip.getAttribute('aria-invalid'), 'true')
        await page.locator('.chip-open:focus').waitFor()
        const url = page.getByLabel('Destination of rule 1')
        assert.equal(await url.getAttribute('aria-invalid'), 'true')
        await page.getByText('2 fields have an error').first().waitFor()
        await expectAccessible(page)
        await url.fill('https://example.com/fine')
        assert.equal(await url.getAttribute('aria-invalid'), null)
        await page.getByRole('button', { name: 'Remove condition: Address' }).click()
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByText('Rules saved').waitFor()
        // What a visitor gets by these rules may have been asked too.
        dropRefusals(faults, faults.length)
      })
      assert.equal((await rulesOf(id))[0].then.url, 'https://example.com/fine')
    })

    test('removes a rule with Undo, and keeps a draft until it is saved', async () => {
      const id = await create('undo', ['DE', 'FR'].map(ruleFor))
      await on(`/links/${id}/rules`, async (page, { faults }) => {
        await keepUndoOffers(page)
        const act = async (name: string) => {
          await page.getByRole('button', { name: 'Actions for rule 1' }).click()
          await page.getByRole('menuitem', { name }).click()
        }
        await act('Remove')
        await page.getByRole('button', { name: 'Undo' }).click()
        assert.match((await sentences(page)).join(), /Germany.*France/s)
        await act('Remove')
        await page.getByRole('button', { name: 'Cancel' }).click()
        await page.getByText('Your draft is kept').waitFor()
        await page.goBack()
        await page.getByText('This is the draft that you left.').waitFor()
        // Another person saves first.
        expectStatus(await api.put(`/links/${id}/rules`, { rules: [ruleFor('IT')] }), 200)
        await page.reload()
        await page.getByText('This is the draft that you left.').waitFor()
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByRole('button', { name: 'Load their version' }).click()
        await page.getByText('the country is Italy').waitFor()
        dropRefusals(faults, 1)
      })
      assert.equal((await rulesOf(id))[0].id, 'it')
    })

    test('keeps every kind of condition as it came, and shows it in both themes and on a phone', async () => {
      const id = await create('kinds', ALL_KINDS)
      for (const options of [
        { theme: 'light', width: 1_280 },
        { theme: 'dark', width: 360 },
        { theme: 'light', width: 360, locale: 'de-DE' },
      ] as const) {
        await on(
          `/links/${id}/rules`,
          async (page) => {
            const rules = page.locator('.rule:not(.is-last) .sent')
            await rules.first().click()
            await rules.last().click()
            await expectAccessible(page)
            await expectNoSidewaysScroll(page)
          },
          options,
        )
      }
      const stored = await rulesOf(id)
      await on(`/links/${id}/rules`, async (page) => {
        await page.locator('.rule .sent').nth(1).click()
        await page.getByRole('slider', { name: 'Between A and B' }).press('Shift+ArrowRight')
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByText('Rules saved').waitFor()
      })
      const changed = structuredClone(stored)
      changed[1].then.split[0].weight = 50
      changed[1].then.split[1].weight = 30
      assert.deepEqual(await rulesOf(id), changed)
    })
  })
}
