import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectNoSidewaysScroll } from '../support/accessibility.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { type Dashboard, type DashboardOptions, inDashboard } from '../support/dashboard.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

// Storage plays no part here: one engine is enough.
for (const engine of ENGINES.filter(({ name }) => name === 'SQLite')) {
  describe('the link form in Chromium', { skip: skipWithout('chromium') }, () => {
    let browser: Browser
    let service: Service
    let api: Api
    before(async () => {
      browser = await launchChromium()
      service = await startService(engine)
      api = await service.api()
      for (const domain of ['old.localhost', 'new.localhost']) {
        expectStatus(await api.post('/domains', { domain }), 201)
      }
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

    test('starts on the default domain, else on the one used last, else on the oldest', async () => {
      await on('/links/new', async (page, { origin }) => {
        const starts = async (host: string) => {
          await page.goto(`${origin}/app/links/new`)
          assert.equal(await page.getByLabel('Domain').inputValue(), host)
        }
        await starts('old.localhost')
        await page.getByLabel('Domain').selectOption('localhost')
        await page.getByLabel('Destination').fill('https://example.com/')
        await page.keyboard.press('Enter')
        await page.getByText('Link created and copied').waitFor()
        // The domain is kept as the form is left, after the message.
        await page.waitForURL(({ pathname }) => !pathname.endsWith('/new'))
        await starts('localhost')

        await page.goto(`${origin}/app/domains`)
        const choose = async (act: string) => {
          await page.getByRole('button', { name: 'Actions for new.localhost' }).click()
          await page.getByRole('menuitem', { name: act, exact: true }).click()
        }
        await choose('Start new links here')
        await page.getByText('New links start on new.localhost.').waitFor()
        await page.getByRole('heading', { name: 'new.localhost Default' }).waitFor()
        await starts('new.localhost')
        await page.goto(`${origin}/app/domains`)
        await choose('Do not start new links here')
        await page.getByText('New links start on the domain that each person').waitFor()
        await eventually(async () => {
          assert.equal((await api.get('/default-domain')).body.domain, null)
        })
        await starts('localhost')
      })
    })

    test('words the faults of fields in the language that is shown, with their parameters', async () => {
      const taken = { domain: 'localhost', key: 'taken', url: 'https://example.com/' }
      expectStatus(await api.post('/links', taken), 201)
      await on(
        '/links/new?domain=localhost&key=taken',
        async (page, { faults }) => {
          await page.getByText('localhost/taken ist auf dieser Domain vergeben').first().waitFor()
          await page.getByLabel('Kürzel', { exact: true }).fill('k'.repeat(191))
          await page.getByText('darf höchstens 190 Zeichen haben').first().waitFor()
          await page.getByLabel('Kürzel', { exact: true }).fill('free')
          await page.getByLabel('Ziel', { exact: true }).fill('https://ada:secret@example.com/')
          await page.getByRole('button', { name: 'Link anlegen' }).click()
          await page.getByText('Darf weder Benutzernamen noch Passwort enthalten').waitFor()
          // The browser reports the 422 that this test made.
          faults.splice(0)
        },
        { locale: 'de-DE' },
      )
    })

    test('gives the focus to the link that was made', async () => {
      await on('/links/new?url=https://example.com/&key=focused', async (page) => {
        await page.getByLabel('Destination').press('Enter')
        await page.locator('main a:focus').waitFor()
        assert.match(await page.locator(':focus').innerText(), /focused$/)
      })
    })

    test('announces whether the key is free after a change of the domain', async () => {
      expectStatus(
        await api.post('/links', { domain: 'old.localhost', key: 'both', url: 'https://a.test/' }),
        201,
      )
      await on('/links/new?domain=old.localhost', async (page) => {
        const says = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor()
        await page.getByLabel('Key', { exact: true }).fill('both')
        await says('old.localhost/both is taken')
        await page.getByLabel('Domain').selectOption('new.localhost')
        await says('new.localhost/both is free')
      })
    })

    test('keeps a draft for its person, brings it back, and forgets it when it is discarded', async () => {
      await on('/links/new', async (page, { origin }) => {
        await page.getByLabel('Destination').fill('https://example.com/draft')
        await page.getByRole('button', { name: 'UTM parameters' }).click()
        await page.getByLabel('Source').fill('mail')
        await page.getByRole('button', { name: 'Cancel' }).click()
        await page.getByText('Your draft is kept').waitFor()
        assert.equal(await page.getByRole('dialog', { name: /^Leave/ }).count(), 0)
        const isBack = async () => {
          await page.getByText('This is the draft that you left.').waitFor()
          assert.equal(
            await page.getByLabel('Destination').inputValue(),
            'https://example.com/draft',
          )
          assert.equal(await page.getByLabel('Source').inputValue(), 'mail')
        }
        await page.keyboard.press('c')
        await isBack()
        await page.reload()
        await isBack()
        await page.getByRole('button', { name: 'Discard' }).click()
        assert.equal(await page.getByLabel('Destination').inputValue(), '')
        await page.goto(`${origin}/app/links/new`)
        await page.getByLabel('Destination').waitFor()
        assert.equal(await page.getByText('This is the draft that you left.').count(), 0)
      })
    })

    test('keeps only what was changed of a link, and no password in the storage', async () => {
      const link = { domain: 'localhost', key: 'drafted', url: 'https://example.com/' }
      const { id } = expectStatus(await api.post('/links', link), 201).body
      await on(`/links/${id}/edit`, async (page) => {
        await page.getByRole('button', { name: 'Password' }).click()
        await page.getByLabel('Password', { exact: true }).fill('a good secret')
        await page
          .getByRole('button', { name: 'More' })
          .or(page.getByRole('button', { name: 'External ID' }))
          .first()
          .click()
        await page.getByLabel('External ID', { exact: true }).fill('7')
        assert.doesNotMatch(String(await page.evaluate('sessionStorage["terse-drafts"]')), /secret/)
        await page.getByRole('button', { name: 'Cancel' }).click()
        await page.getByText('Your draft is kept').waitFor()
        expectStatus(await api.patch(`/links/${id}`, { url: 'https://example.com/theirs' }), 200)
        await page.goBack()
        await page.getByText('This is the draft that you left.').waitFor()
        assert.equal(
          await page.getByLabel('Password', { exact: true }).inputValue(),
          'a good secret',
        )
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByText('Changes saved').waitFor()
        const { body } = await api.get(`/links/${id}`)
        assert.deepEqual([body.url, body.external_id], ['https://example.com/theirs', 7])
        assert.notEqual(body.password, null)
        assert.equal(await page.evaluate('sessionStorage["terse-drafts"]'), '[]')
      })
    })

    test('shows how the QR code will look before there is a key, and fits with a logo', async () => {
      await on('/links/new', async (page) => {
        await page.getByRole('img', { name: /^An example: the final code/ }).waitFor()
        assert.equal(await page.getByRole('button', { name: 'PNG' }).isDisabled(), true)
        await page.getByLabel('Key', { exact: true }).fill('coded')
        await page.getByRole('img', { name: /^QR code of .*coded$/ }).waitFor()
        const picture =
          '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="4" fill="#f00"/></svg>'
        await page.locator('input[type="file"]').setInputFiles({
          ...{ name: 'logo.svg', mimeType: 'image/svg+xml' },
          buffer: Buffer.from(picture),
        })
        await page.getByRole('button', { name: 'Remove logo' }).waitFor()
        assert.match(
          String(await page.locator('.qr image').getAttribute('href')),
          /^data:image\/png;base64,.{100}/,
        )
        for (const width of [360, 905, 1_001, 1_280]) {
          await page.setViewportSize({ width, height: 800 })
          await expectNoSidewaysScroll(page)
        }
      })
    })

    test('opens with what another app shares with the installed dashboard', async () => {
      await on('/links', async (page, { context }) => {
        const devTools = await context.newCDPSession(page)
        const { installabilityErrors } = await devTools.send('Page.getInstallabilityErrors')
        assert.deepEqual(installabilityErrors, [])
        const { data = '' } = await devTools.send('Page.getAppManifest')
        const { action, params } = JSON.parse(data).share_target
        const shared = new URLSearchParams({
          [params.text]: 'Read this: https://example.com/read?a=1 (5 min)',
        })
        await page.goto(new URL(`${action}?${shared}`, page.url()).href)
        const destination = page.getByLabel('Destination')
        await destination.waitFor()
        assert.equal(await destination.inputValue(), 'https://example.com/read?a=1')
      })
    })

    // The last one: it ends the session of the others.
    test('shows no draft after a sign-out, nor in another workspace', async () => {
      await on('/links/new', async (page, { origin, faults }) => {
        await page.getByLabel('Destination').fill('https://example.com/mine')
        const kept = () => page.evaluate('sessionStorage["terse-drafts"]')
        await eventually(async () => assert.match(String(await kept()), /mine/))
        // As if it were that of another workspace.
        await page.evaluate(`sessionStorage['terse-drafts'] =
          sessionStorage['terse-drafts'].replace(/^(\\[\\["\\S+) \\S+ /, '$1 other ')`)
        await page.goto(`${origin}/app/links/new`)
        await page.getByLabel('Destination').waitFor()
        assert.equal(await page.getByLabel('Destination').inputValue(), '')
        await page.goto(`${origin}/app/links`)
        await page.getByRole('button', { name: 'Account' }).click()
        await page.getByRole('menuitem', { name: 'Sign out' }).click()
        await page.waitForURL(/\/sign-in/)
        assert.equal(await kept(), '[]')
        // What was being loaded is refused at the sign-out.
        faults.splice(0)
      })
    })
  })
}
