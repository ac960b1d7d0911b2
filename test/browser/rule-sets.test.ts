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
  keepUndoOffers,
} from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

const PATH = '/settings/rule-sets'
const IPHONE = { when: { os: ['ios'] }, then: { url: 'https://apps.apple.com/app/id1' } }
const GERMANY = { id: 'de', when: { country: ['DE'] }, then: { url: 'https://example.com/de' } }

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('rule sets in Chromium', { skip: skipWithout('chromium') }, () => {
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

    async function newSet(name: string, rules: readonly object[]): Promise<string> {
      return expectStatus(await api.post('/rule-sets', { name, rules }), 201).body.id
    }

    async function newLink(key: string, fields: object = {}): Promise<string> {
      const link = { domain: 'localhost', url: 'https://example.com/', key, ...fields }
      return expectStatus(await api.post('/links', link), 201).body.id
    }

    test('are created, edited, renamed and deleted by keyboard', async () => {
      await on(PATH, async (page) => {
        await page.getByRole('button', { name: 'Create rule set' }).press('Enter')
        await page.getByRole('textbox', { name: 'Name' }).fill('App stores')
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { name: 'App stores' }).waitFor()
        await page.getByText('It has no rules').waitFor()
        await page.getByRole('button', { name: 'By device' }).press('Enter')
        await page.getByLabel('Destination of rule 1').fill('https://example.com/phones')
        await page.keyboard.press('Control+Enter')
        await page.getByText('Rules saved').waitFor()
        await page.getByText('1 rule · Not used').waitFor()
        await page.getByRole('button', { name: 'Actions for App stores' }).press('Enter')
        await page.getByRole('menuitem', { name: 'Rename' }).press('Enter')
        await page.getByRole('textbox', { name: 'Name' }).fill('Phones')
        await page.keyboard.press('Enter')
        await page.getByRole('link', { name: 'Phones', exact: true }).waitFor()
      })
      const [set] = (await api.get('/rule-sets')).body.data
      assert.equal(set.name, 'Phones')
      assert.deepEqual(set.rules[0].when, { device: ['phone'] })
      await on(PATH, async (page) => {
        await page.getByRole('button', { name: 'Actions for Phones' }).click()
        await page.getByRole('menuitem', { name: 'Delete' }).click()
        await page.getByRole('button', { name: 'Delete' }).click()
        await page.getByText('No rule set yet').waitFor()
      })
      assert.deepEqual((await api.get('/rule-sets')).body.data, [])
    })

    test('are chosen for a link, opened from it, and copied into it', async () => {
      const setId = await newSet('Chosen', [IPHONE])
      const id = await newLink('chosen')
      expectStatus(await api.put(`/links/${id}/rules`, { rules: [GERMANY] }), 200)
      const setOf = async () => (await api.get(`/links/${id}/options`)).body.rule_set
      await on(`/links/${id}/rules`, async (page) => {
        await keepUndoOffers(page)
        await page.getByRole('button', { name: 'Rule set', exact: true }).press('Enter')
        await page.getByRole('menuitem', { name: 'Chosen' }).press('Enter')
        await page.getByText('the system is iOS').waitFor()
        // The rules and the set are saved together.
        await page.getByRole('button', { name: /Germany/ }).click()
        await page.getByLabel('Destination of rule 1').fill('https://example.com/neu')
        await page.keyboard.press('Control+Enter')
        await page.getByText('Rules saved').waitFor()
      })
      assert.equal(await setOf(), setId)
      const rulesOf = async () => (await api.get(`/links/${id}/rules`)).body.rules
      assert.equal((await rulesOf())[0].then.url, 'https://example.com/neu')
      await on(`/links/${id}/rules`, async (page) => {
        await page.getByText('Used by 1 link.').waitFor()
        await page.getByRole('link', { name: 'Edit the set' }).click()
        await page.getByText('Used by 1 link. They are tried').waitFor()
        await page.goBack()
        await page.getByRole('button', { name: 'Actions for the rule set' }).click()
        await page.getByRole('menuitem', { name: 'Copy its rules into this link' }).click()
        await page.getByRole('button', { name: 'Move rule 2' }).waitFor()
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByText('Rules saved').waitFor()
      })
      assert.equal(await setOf(), null)
      assert.deepEqual((await rulesOf())[1].when, IPHONE.when)
    })

    test('are not deleted while a link uses them, whose name is shown', async () => {
      const rule_set = await newSet('Used', [IPHONE])
      await newLink('uses-it', { rule_set })
      await on(PATH, async (page, { faults }) => {
        await page.getByText('1 rule · Used by 1 link').waitFor()
        await page.getByRole('button', { name: 'Actions for Used' }).click()
        await page.getByRole('menuitem', { name: 'Delete' }).click()
        await page.getByRole('button', { name: 'Delete' }).click()
        await page.getByRole('alert').filter({ hasText: 'localhost/uses-it' }).waitFor()
        dropRefusals(faults, 1)
      })
      assert.equal((await api.get(`/rule-sets/${rule_set}`)).status, 200)
    })

    test('keep a change of another person from being lost', async () => {
      const id = await newSet('Shared', [GERMANY])
      await on(`${PATH}/${id}`, async (page, { faults }) => {
        await page.getByRole('button', { name: /Germany/ }).click()
        await page.getByLabel('Destination of rule 1').fill('https://example.com/mine')
        expectStatus(await api.patch(`/rule-sets/${id}`, { rules: [IPHONE] }), 200)
        await page.keyboard.press('Control+Enter')
        await page.getByRole('button', { name: 'Load their version' }).click()
        await page.getByText('the system is iOS').waitFor()
        dropRefusals(faults, 1)
      })
    })

    test('are accessible and fit, light and dark, on a desktop and a phone', async () => {
      const id = await newSet('Looked at', [GERMANY, IPHONE])
      const link = await newLink('looked-at', { rule_set: id })
      for (const options of [
        { theme: 'light', width: 1_280 },
        { theme: 'dark', width: 390 },
        { theme: 'light', width: 360, locale: 'de-DE' },
      ] as const) {
        for (const path of [PATH, `${PATH}/${id}`, `/links/${link}/rules`]) {
          const use = async (page: Page) => {
            await page
              .getByText(/Looked at/)
              .first()
              .waitFor()
            await expectAccessible(page)
            await expectNoSidewaysScroll(page)
          }
          await on(path, use, options)
        }
      }
    })
  })
}
