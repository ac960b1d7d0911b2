import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectAccessible, expectNoSidewaysScroll } from '../support/accessibility.ts'
import { expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import {
  type Dashboard,
  type DashboardOptions,
  dropRefusals,
  expectCopied,
  inDashboard,
} from '../support/dashboard.ts'
import { type DnsResponder, NXDOMAIN, startDnsResponder } from '../support/dns-responder.ts'
import { ENGINES } from '../support/engines.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'
import { settle } from '../support/settled.ts'

const OURS = '192.0.2.10'
const ELSEWHERE = '198.51.100.7'
/** How often the page asks about a pending domain. */
const PROVING_MS = 5_000

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('the page of domains in Chromium', { skip: skipWithout('chromium') }, () => {
    let browser: Browser
    let dns: DnsResponder
    let service: Service
    /** By type and name: `A go.example`. */
    const records = new Map<string, string>()
    before(async () => {
      dns = await startDnsResponder(({ type, name }) => {
        const data = records.get(`${type} ${name}`)
        if (data === undefined) return { rcode: NXDOMAIN }
        return { answers: [{ type: type as 'A', name, ttl: 0, data }] }
      })
      service = await startService(engine, {
        TERSE_DNS_SERVERS: dns.address,
        TERSE_DNS_TARGET: 'go.terse.example',
        TERSE_PUBLIC_ADDRESSES: OURS,
      })
      browser = await launchChromium()
      const api = await service.api()
      records.set('A links.acme.example', ELSEWHERE)
      for (const domain of ['links.acme.example', 'go.localhost']) {
        expectStatus(await api.post('/domains', { domain }), 201)
      }
      const link = { domain: 'go.localhost', key: 'sale', url: 'https://example.com/' }
      expectStatus(await api.post('/links', link), 201)
    })
    after(async () => {
      await browser.close()
      await service.stop()
      await dns.stop()
    })

    const on = (
      use: (page: Page, dashboard: Dashboard) => Promise<void>,
      options?: DashboardOptions,
    ) => inDashboard(browser, service, '/domains', use, options)

    test('is accessible and fits, light and dark, on a desktop and a phone', async () => {
      await on(async (page) => {
        await page.getByText(`links.acme.example leads to ${ELSEWHERE}`).waitFor()
        await expectAccessible(page)
      })
    })

    test('loads with one request for the list and one for the DNS of the pending domain', async () => {
      await on(async (page) => {
        await page.getByText(`links.acme.example leads to ${ELSEWHERE}`).waitFor()
        await page.getByText('1 link', { exact: true }).waitFor()
        await settle(page)
        const loaded = (await page.evaluate(
          "performance.getEntriesByType('resource').map(({ name }) => name)",
        )) as readonly string[]
        const paths = loaded
          .map((address) => new URL(address).pathname)
          .filter((path) => /^\/api\/v1\/(domains|links|clicks|default)/.test(path))
        const [list, dns, ...others] = paths
        assert.equal(list, '/api/v1/domains')
        // The newest pending domain is open, and asks again every few seconds.
        assert.match(String(dns), /^\/api\/v1\/domains\/[^/]+\/dns$/)
        assert.deepEqual(
          [...new Set(others)].filter((path) => path !== dns && path !== list),
          [],
        )
      })
    })

    test('are marked as pending where the domain of a link is chosen', async () => {
      await on(async (page, { origin }) => {
        await page.goto(`${origin}/app/links/new`)
        const choices = page.getByLabel('Domain').locator('option')
        await choices.getByText('links.acme.example (pending)').waitFor({ state: 'attached' })
        assert.deepEqual(await choices.allTextContents(), [
          'localhost',
          'go.localhost',
          'links.acme.example (pending)',
        ])
      })
    })

    test('is German for a browser that asks for it', async () => {
      await on(
        async (page) => {
          await page.getByText(`links.acme.example führt zu ${ELSEWHERE}`).waitFor()
          await page.getByRole('button', { name: 'Jetzt prüfen' }).waitFor()
        },
        { locale: 'de-DE' },
      )
    })

    test('shows one domain from the palette, copies its records, and when it was checked', async () => {
      await on(async (page) => {
        await page.getByText(`links.acme.example leads to ${ELSEWHERE}`).waitFor()
        await page.keyboard.press('Control+k')
        const search = page.getByRole('combobox', { name: /^Search links/ })
        await search.fill('acme.ex')
        await page.getByRole('option', { name: 'Copy DNS records' }).click()
        await page.getByText('Copied', { exact: true }).waitFor()
        const copied = String(await page.evaluate('navigator.clipboard.readText()'))
        assert.match(copied, /TXT {2}_terse\.links\.acme\.example {2}terse-verify=/)
        await page.keyboard.press('Control+k')
        await search.fill('acme.ex')
        await page.getByRole('group', { name: 'Domains' }).getByRole('option').waitFor()
        await page.keyboard.press('Enter')
        await page.getByRole('link', { name: 'All domains' }).waitFor()
        await page.getByText('go.localhost').waitFor({ state: 'detached' })
        await page.getByText(/^Last checked/).focus()
        const time = page.getByRole('tooltip')
        assert.match(await time.innerText(), /^\w{3},? \d+ \w+ 20\d\d,? (?:at )?\d\d:\d\d:\d\d/)
        await page.keyboard.press('Escape')
        await time.waitFor({ state: 'detached' })
      })
    })

    test('adds a domain, follows its records, and shows when it is active', async () => {
      await on(
        async (page) => {
          await page.getByRole('button', { name: 'Add domain' }).click()
          const dialog = page.getByRole('dialog', { name: 'Add a domain' })
          await dialog.getByLabel('Host name').fill('https://new.acme.example/path')
          await dialog.getByText('Adds new.acme.example').waitFor()
          await dialog.getByRole('button', { name: 'Add domain' }).click()
          const group = page.getByRole('group', { name: 'DNS records of new.acme.example' })
          await group.getByText('Missing').first().waitFor()
          await group.getByRole('button', { name: /^Copy terse-verify=/ }).click()
          const proof = await expectCopied(page, /^terse-verify=/)
          await page.clock.install()
          records.set('TXT _terse.new.acme.example', proof)
          await page.clock.fastForward(PROVING_MS)
          await group.getByText('Found').waitFor()
          records.set('A new.acme.example', OURS)
          await page.clock.fastForward(PROVING_MS)
          await page.getByText('new.acme.example is active').waitFor()
        },
        { alone: true },
      )
    })

    test('says that the proof of an active domain is missing', async () => {
      const api = await service.api()
      const { id } = expectStatus(
        await api.post('/domains', { domain: 'lost.acme.example' }),
        201,
      ).body
      const { body } = await api.get(`/domains/${id}/dns`)
      records.set('TXT _terse.lost.acme.example', body.records[0].value)
      records.set('A lost.acme.example', OURS)
      expectStatus(await api.post(`/domains/${id}/verify`, undefined), 200)
      records.delete('TXT _terse.lost.acme.example')
      await on(async (page) => {
        await page.getByRole('button', { name: 'Details of lost.acme.example' }).click()
        await page.getByText('Proof missing').waitFor()
        await page.getByText('Links go on redirecting').waitFor()
      })
    })

    test('changes redirects and HSTS, with errors at their fields', async () => {
      await on(async (page, { faults }) => {
        await page.getByRole('button', { name: 'Actions for go.localhost' }).click()
        await page.getByRole('menuitem', { name: 'Redirects and HTTPS' }).click()
        const dialog = page.getByRole('dialog', { name: 'go.localhost' })
        const field = dialog.getByLabel('Root and unknown keys go to')
        await field.fill('no address')
        await dialog.getByLabel('HTTPS only (HSTS)').selectOption('1 year')
        await dialog.getByRole('button', { name: 'Save' }).click()
        await dialog.locator('.err').waitFor()
        assert.equal(await field.getAttribute('aria-invalid'), 'true')
        // The browser reports the answer with status 422.
        faults.splice(0)
        await field.fill('https://example.com/home')
        await dialog.getByRole('button', { name: 'Save' }).click()
        await page.getByText('go.localhost is changed').waitFor()
      })
      const api = await service.api()
      const { data } = (await api.get('/domains')).body
      const domain = data.find((one: { domain: string }) => one.domain === 'go.localhost')
      assert.equal(domain.not_found_url, 'https://example.com/home')
      const { body } = await api.get(`/domains/${domain.id}/https`)
      assert.equal(body.hsts_max_age, 31_536_000)
    })

    test('changes its settings, with faults of a document at their places', async () => {
      const api = await service.api()
      const set = expectStatus(await api.post('/rule-sets', { name: 'App stores' }), 201).body
      const { data } = (await api.get('/domains?domain=go.localhost')).body
      const path = `/domains/${data[0].id}/settings`
      await on(async (page, { faults }) => {
        await page.getByRole('button', { name: 'Details of go.localhost' }).click()
        const domain = page.locator('article', { hasText: 'go.localhost' })
        await domain.getByRole('button', { name: /^Settings/ }).press('Enter')
        await domain.getByLabel('The bare domain leads to').fill('https://example.com/home')
        await domain.getByLabel('Search engines').selectOption('May list links')
        await domain.getByLabel('Default rule set').selectOption('App stores')
        await domain.getByLabel('Source').fill('short-link')
        const android = domain.getByLabel('Android apps')
        const save = domain.getByRole('button', { name: 'Save' })
        await android.fill('[{')
        await save.click()
        await domain.getByText('This is no JSON').waitFor()
        await page.locator('textarea:focus').waitFor()
        const relation = ['delegate_permission/common.handle_all_urls']
        const site = (address: string) =>
          JSON.stringify([{ relation, target: { namespace: 'web', site: address } }])
        await android.fill(site('nowhere'))
        await save.click()
        await domain.getByText('0.target.site: ').waitFor()
        dropRefusals(faults, 1)
        await expectAccessible(page)
        await android.fill(site('https://example.com'))
        // What is not saved is there again after a visit to another page.
        await page.getByRole('link', { name: 'Tags' }).click()
        await page.getByRole('heading', { name: 'Tags', exact: true }).waitFor()
        await page.goBack()
        await page.getByRole('button', { name: 'Details of go.localhost' }).click()
        await domain.getByRole('button', { name: /^Settings/ }).click()
        await domain.getByText('This is the draft that you left.').waitFor()
        await save.click()
        await page.getByText('go.localhost is changed').waitFor()
        await domain.getByText('This is the draft').waitFor({ state: 'detached' })
      })
      const { body } = await api.get(path)
      assert.equal(body.root_url, 'https://example.com/home')
      assert.deepEqual([body.robots, body.rule_set], ['index', set.id])
      assert.equal(body.utm.utm_source, 'short-link')
      assert.equal(body.assetlinks[0].target.site, 'https://example.com')
      for (const options of [
        { theme: 'light', width: 1_280 },
        { theme: 'dark', width: 390 },
        { theme: 'light', width: 360, locale: 'de-DE' },
      ] as const) {
        await on(async (page) => {
          await page.getByRole('button', { name: /(Details of|zu) go\.localhost/ }).click()
          await page
            .getByRole('button', { name: /^(Settings|Einstellungen)/ })
            .last()
            .click()
          await page.locator('textarea').last().waitFor()
          await expectAccessible(page)
          await expectNoSidewaysScroll(page)
        }, options)
      }
    })

    test('removes a domain once its name is typed', async () => {
      await on(async (page) => {
        await page.getByRole('button', { name: 'Actions for go.localhost' }).click()
        await page.getByRole('menuitem', { name: 'Remove domain' }).click()
        const dialog = page.getByRole('dialog', { name: 'Remove go.localhost?' })
        await dialog.getByText('Its 1 link stops redirecting at once.').waitFor()
        await dialog.getByText('/sale, 0 clicks').waitFor()
        const remove = dialog.getByRole('button', { name: 'Remove domain' })
        assert.equal(await remove.isDisabled(), true)
        await dialog.getByLabel('Type go.localhost to confirm').fill('go.localhost')
        await remove.click()
        await page.getByText('go.localhost is removed').waitFor()
        await page
          .getByRole('button', { name: 'Details of go.localhost' })
          .waitFor({ state: 'detached' })
      })
    })
  })
}
