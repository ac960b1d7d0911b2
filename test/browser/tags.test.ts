import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { expectAccessible } from '../support/accessibility.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { someClick } from '../support/clicks.ts'
import { dropRefusals, inDashboard } from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'
import { seqOf, takeIn } from '../support/taken-clicks.ts'

const TEMPLATE = { name: 'Newsletter', utm_source: 'newsletter', utm_medium: 'email' }

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('tags and UTM templates in Chromium', { skip: skipWithout('chromium') }, () => {
    let browser: Browser
    let service: Service
    let api: Api
    before(async () => {
      browser = await launchChromium()
      service = await startService(engine)
      api = await service.api()
      const links = [['sprng'], ['spring', 'print'], ['spring'], ['old']].map((tags, nth) => ({
        domain: 'localhost',
        key: `link-${nth}`,
        url: 'https://example.com/',
        tags,
      }))
      expectStatus(await api.post('/links/bulk', { action: 'create', links }), 200)
      expectStatus(await api.post('/utm-templates', TEMPLATE), 201)
    })
    after(async () => {
      await browser.close()
      await service.stop()
    })

    test('are accessible and fit, light and dark, on a desktop and a phone', async () => {
      await inDashboard(browser, service, '/tags', async (page, { origin }) => {
        await page.getByText('sprng').first().waitFor()
        await expectAccessible(page)
        await page.goto(`${origin}/app/tags/utm-templates`)
        await page.getByText('Newsletter').first().waitFor()
        await expectAccessible(page)
      })
    })

    test('are found, and the field is empty when the filter has ended', async () => {
      await inDashboard(browser, service, '/tags', async (page) => {
        const field = page.getByRole('searchbox')
        await page.getByText('sprng').first().waitFor()
        await field.fill('old')
        await page.getByText('sprng').waitFor({ state: 'detached' })
        await page.getByRole('navigation', { name: 'Main' }).getByText('Tags').click()
        await page.getByText('sprng').first().waitFor()
        assert.equal(await field.inputValue(), '')
        await page.goBack()
        await page.getByText('sprng').waitFor({ state: 'detached' })
        assert.equal(await field.inputValue(), 'old')
      })
    })

    test('are German for a browser that asks for it', async () => {
      await inDashboard(
        browser,
        service,
        '/tags',
        async (page) => {
          await page.getByRole('link', { name: 'UTM-Vorlagen' }).click()
          await page.getByRole('button', { name: 'Neue Vorlage' }).waitFor()
        },
        { locale: 'de-DE' },
      )
    })

    test('counts links, renames a tag, and asks before that merges it with another', async () => {
      await inDashboard(browser, service, '/tags', async (page) => {
        const rows = page.getByRole('list', { name: 'Tags' }).getByRole('listitem')
        await rows.filter({ hasText: 'spring' }).getByText('2 links').waitFor()
        await page.getByRole('button', { name: 'Actions for sprng' }).click()
        await page.getByRole('menuitem', { name: 'Rename' }).click()
        const dialog = page.getByRole('dialog', { name: 'Rename sprng' })
        await dialog.getByLabel('New name').fill('spring')
        await dialog.getByText('spring exists').waitFor()
        await dialog.getByRole('button', { name: 'Merge' }).click()
        await page.getByText('1 link changed').waitFor()
        await rows.filter({ hasText: 'spring' }).getByText('3 links').waitFor()
      })
      assert.deepEqual((await api.get('/links?search=link-0')).body.data[0].tags, ['spring'])
    })

    test('shows the clicks of the last 30 days of each tag, which lead to its analytics', async () => {
      const { body: link } = await api.post('/links', {
        domain: 'localhost',
        key: 'clicked',
        url: 'https://example.com/',
        tags: ['clicked', 'spring'],
      })
      const link_seq = await seqOf(service, link)
      const daysAgo = (days: number) => (Date.now() - days * 86_400_000) * 1_000
      await takeIn(service, [
        someClick({ link_seq, at: daysAgo(0) }),
        someClick({ link_seq, at: daysAgo(28) }),
        someClick({ link_seq, at: daysAgo(31) }),
        someClick({ link_seq, at: daysAgo(0), flags: 1 }),
      ])
      await inDashboard(browser, service, '/tags', async (page) => {
        const clicks = (tag: string, amount: string) =>
          page.getByRole('link', { name: `${tag}: ${amount} in the last 30 days` })
        await clicks('spring', '2 clicks').waitFor()
        await clicks('print', '0 clicks').waitFor()
        await clicks('clicked', '2 clicks').click()
        await page.waitForURL(/analytics\?tag=clicked/)
        await page
          .getByRole('tab', { name: /^Clicks/ })
          .getByText('2', { exact: true })
          .waitFor()
      })
    })

    test('says why the clicks of tags are missing', async () => {
      await inDashboard(browser, service, '/analytics', async (page, { origin, faults }) => {
        const json = {
          code: 'validation_failed',
          message: 'The request is invalid.',
          errors: { from: ['cannot be had for tag: single clicks are limited to 1000000'] },
        }
        await page.route(`${origin}/api/v1/clicks?*group_by=tag*`, (route) =>
          route.fulfill({ status: 422, json }),
        )
        await page.goto(`${origin}/app/tags`)
        await page.getByText('Clicks by tag are counted from single clicks').waitFor()
        assert.equal(await page.getByRole('link', { name: /in the last 30 days/ }).count(), 0)
        dropRefusals(faults, 1)
      })
    })

    test('merges and deletes the selected tags', async () => {
      await inDashboard(browser, service, '/tags', async (page) => {
        for (const name of ['print', 'old']) {
          await page.getByRole('checkbox', { name: `Select ${name}` }).check()
        }
        await page.getByRole('button', { name: 'Merge' }).click()
        const merge = page.getByRole('dialog', { name: 'Merge 2 tags' })
        await merge.getByLabel('Name of the merged tag').fill('archive')
        await merge.getByRole('button', { name: 'Merge' }).click()
        await page.getByText('2 links changed').waitFor()
        await page.getByRole('checkbox', { name: 'Select archive' }).check()
        await page.getByRole('button', { name: 'Delete' }).click()
        await page
          .getByRole('dialog', { name: 'Delete archive?' })
          .getByRole('button', { name: 'Delete' })
          .click()
        await page.getByRole('checkbox', { name: 'Select archive' }).waitFor({ state: 'detached' })
      })
      const { data } = (await api.get('/tags')).body
      const names = data.map(({ name }: { name: string }) => name)
      assert.deepEqual(
        ['print', 'old', 'archive'].filter((name) => names.includes(name)),
        [],
      )
    })

    test('fills the UTM parameters of a link from a template, and saves others as one', async () => {
      await inDashboard(browser, service, '/links/new', async (page) => {
        await page.getByRole('button', { name: 'UTM parameters' }).click()
        await page.getByLabel('Template').selectOption('Newsletter')
        assert.equal(await page.getByLabel('Source').inputValue(), 'newsletter')
        assert.equal(await page.getByLabel('Medium').inputValue(), 'email')
        await page.getByLabel('Campaign').fill('autumn')
        await page.getByRole('button', { name: 'Save as template' }).click()
        const dialog = page.getByRole('dialog', { name: 'New UTM template' })
        await dialog.getByLabel('Template name').fill('Autumn')
        await dialog.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Autumn is saved').waitFor()
      })
      const { data } = (await api.get('/utm-templates')).body
      assert.equal(data[0].name, 'Autumn')
      assert.equal(data[0].utm_source, 'newsletter')
      assert.equal(data[0].utm_campaign, 'autumn')
    })
  })
}
