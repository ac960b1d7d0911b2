import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectAccessible } from '../support/accessibility.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { type Dashboard, type DashboardOptions, inDashboard } from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { createLink } from '../support/links.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

const RULES = [{ when: { device: ['phone'] }, then: { url: 'https://m.test/' } }]

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('what links as code manage, in Chromium', { skip: skipWithout('chromium') }, () => {
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

    const markAt = async (path: string) =>
      expectStatus(await api.get(path), 200).body.managed_by as string | null

    async function release(page: Page) {
      await page.getByRole('note').getByRole('button', { name: 'Release' }).click()
      const dialog = page.getByRole('dialog', { name: 'Release it from the set flyers?' })
      await dialog.getByRole('button', { name: 'Release' }).click()
      await page.getByText('Released from the set flyers').waitFor()
      await page.getByRole('note').waitFor({ state: 'detached' })
      await page.waitForFunction('document.activeElement?.matches("#main, .dlg input")')
    }

    test('links have a mark in the list, which leads to those of the set', async () => {
      await createLink(api, { key: 'poster', managed_by: 'flyers' })
      await createLink(api, { key: 'plain' })
      await on('/links', async (page) => {
        await page.getByRole('link', { name: 'plain' }).waitFor()
        await page.getByRole('link', { name: 'Managed by the set flyers' }).click()
        await page.getByRole('link', { name: 'plain' }).waitFor({ state: 'detached' })
        await page.getByRole('link', { name: 'poster' }).waitFor()
        assert.match(page.url(), /managed_by=flyers/)
        await page.getByRole('button', { name: 'Remove filter' }).click()
        await page.getByRole('link', { name: 'plain' }).waitFor()
      })
    })

    test('links say whether they were edited since, and are released in their form', async () => {
      const { id } = await createLink(api, { key: 'leaflet', managed_by: 'flyers' })
      await on(`/links/${id}`, async (page, { origin }) => {
        await page.getByText(/^Managed by the set flyers, last applied on/).waitFor()
        assert.equal(await page.getByText('Edited since').count(), 0)
        expectStatus(await api.put(`/links/${id}/rules`, { rules: RULES }), 200)
        await page.reload()
        await page.getByText('Edited since it was last applied.').waitFor()

        await page.goto(`${origin}/app/links/${id}/edit`)
        await page.getByText('This link is managed by the set flyers.').waitFor()
        // What was typed before is not lost, and can be saved.
        await page.getByLabel('Destination').fill('https://example.com/released')
        await release(page)
        assert.equal(await markAt(`/links/${id}/options`), null)
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByText('Changes saved').waitFor()
        const { url } = expectStatus(await api.get(`/links/${id}`), 200).body
        assert.equal(url, 'https://example.com/released')
      })
    })

    test('rules, sets, templates and settings of domains warn too, and are released', async () => {
      const managed = { managed_by: 'flyers' }
      const { id } = await createLink(api, { key: 'ruled', ...managed })
      const body = { name: 'Shops', rules: RULES, ...managed }
      const set = expectStatus(await api.post('/rule-sets', body), 201).body
      const made = await api.post('/utm-templates', { name: 'Print', ...managed })
      const template = expectStatus(made, 201).body
      const host = { domain: 'flyers.localhost' }
      const domain = expectStatus(await api.post('/domains', host), 201).body
      const settings = `/domains/${domain.id}/settings`
      expectStatus(await api.patch(settings, managed), 200)

      await on(`/links/${id}/rules`, async (page, { origin }) => {
        await release(page)
        assert.equal(await markAt(`/links/${id}/options`), null)

        await page.goto(`${origin}/app/settings/rule-sets/${set.id}`)
        await page.getByText('This rule set is managed by the set flyers.').waitFor()
        await release(page)
        assert.equal(await markAt(`/rule-sets/${set.id}`), null)

        await page.goto(`${origin}/app/tags/utm-templates`)
        await page.getByRole('button', { name: 'Actions for Print' }).click()
        await page.getByRole('menuitem', { name: 'Edit' }).click()
        await page.getByText('This template is managed by the set flyers.').waitFor()
        await release(page)
        assert.equal(await markAt(`/utm-templates/${template.id}`), null)

        await page.goto(`${origin}/app/domains?id=${domain.id}`)
        await page.getByRole('button', { name: 'Settings' }).click()
        await page.getByLabel('The bare domain leads to').fill('https://example.com/kept')
        await release(page)
        assert.equal(await markAt(settings), null)
        await page.getByRole('button', { name: 'Save', exact: true }).click()
        await eventually(async () => {
          assert.equal((await api.get(settings)).body.root_url, 'https://example.com/kept')
        })
      })
    })

    test('a release is refused where another person has changed the link since its form was opened', async () => {
      const { id } = await createLink(api, { key: 'shared', managed_by: 'flyers' })
      await on(`/links/${id}/edit`, async (page, { faults }) => {
        await page.getByRole('note').waitFor()
        expectStatus(await api.patch(`/links/${id}`, { notes: 'by another person' }), 200)
        await page.getByRole('note').getByRole('button', { name: 'Release' }).click()
        const dialog = page.getByRole('dialog', { name: 'Release it from the set flyers?' })
        await dialog.getByRole('button', { name: 'Release' }).click()
        await dialog.getByText('Another person has changed this meanwhile.').waitFor()
        assert.equal(await markAt(`/links/${id}/options`), 'flyers')
        faults.splice(0)
      })
    })

    test('a link that must not be deleted says so in menus, and in what a bulk act kept', async () => {
      const { id } = await createLink(api, { key: 'kept' })
      await createLink(api, { key: 'gone' })
      await createLink(api, { key: 'other' })
      await on(`/links/${id}/edit`, async (page, { origin, faults }) => {
        await page.getByRole('button', { name: 'Deletion' }).click()
        await page.getByLabel('Refuse to delete this link').check()
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByText('Changes saved').waitFor()

        await page.goto(`${origin}/app/links`)
        await page.getByRole('button', { name: 'Actions for kept' }).click()
        await page.getByRole('menuitem', { name: /Delete\s*Not allowed/ }).click()
        await page.getByText('localhost/kept must not be deleted.').first().waitFor()
        await page.getByRole('link', { name: 'kept' }).waitFor()

        await page.reload()
        for (const key of ['kept', 'gone']) await page.getByLabel(`Select localhost/${key}`).check()
        const acts = page.getByRole('toolbar', { name: 'Selected links' })
        await acts.getByRole('button', { name: 'Delete' }).click()
        // Without waiting for the time in which it can be undone.
        const offer = page.getByRole('dialog').filter({ hasText: '2 links deleted' })
        await offer.getByLabel('Close').click()
        const failures = page.getByRole('dialog', { name: '1 of 2' })
        await failures.getByText('localhost/kept').waitFor()
        await failures.getByText('Keeps this link from being deleted').waitFor()
        await page.getByRole('link', { name: 'gone' }).waitFor({ state: 'detached' })
        expectStatus(await api.get(`/links/${id}`), 200)
        faults.splice(0)
      })
    })

    test('what they say is accessible and fits, on desktops and phones', async () => {
      const { id } = await createLink(api, { managed_by: 'flyers', prevent_delete: true })
      expectStatus(await api.patch(`/links/${id}`, { url: 'https://example.com/by-hand' }), 200)
      await on(`/links/${id}`, async (page, { origin }) => {
        await page.getByText('Edited since it was last applied.').waitFor()
        await expectAccessible(page)
        await page.goto(`${origin}/app/links/${id}/edit`)
        await page.getByRole('note').waitFor()
        await expectAccessible(page)
      })
    })
  })
}
