import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import type { Browser, Page } from 'playwright-core'
import { newNode } from '../storage/samples.ts'
import { expectAccessible, expectNoSidewaysScroll } from '../support/accessibility.ts'
import { expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { type Dashboard, dropRefusals, expectCopied, inPersonPage } from '../support/dashboard.ts'
import { SQLITE } from '../support/engines.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { invite, PASSWORD, type PersonClient, setUp, signIn } from '../support/person-client.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

/** On a phone the pages are one row that scrolls. */
const CURRENT_IS_IN_VIEW = `(() => {
  const { left, right } = document.querySelector('.subnav [aria-current]').getBoundingClientRect()
  return left >= 0 && right <= innerWidth
})()`

// Storage plays no part here: one engine is enough.
describe('the settings', { skip: skipWithout('chromium') }, () => {
  let browser: Browser
  let service: Service
  let ada: PersonClient
  let clock: FakeClock
  before(async () => {
    browser = await launchChromium()
    clock = fakeClock(Date.now())
    service = await startService(SQLITE, {}, { clock })
    await service.token('acme')
    ada = await setUp(service)
    ada.workspaceId = (await service.instance.workspaces.get('acme')).id
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  /** Opens a page as Ada, and expects at the end that nothing went wrong in it. */
  async function on(
    path: string,
    use: (page: Page, opened: Dashboard) => Promise<void>,
    options: Parameters<typeof inPersonPage>[4] = {},
  ): Promise<void> {
    await inPersonPage(browser, service, path, use, { as: ada, ...options })
  }

  const join = (name: string, role?: string) => invite(service, ada, name, role)

  const freshly = async () => {
    ada.cookie = (await signIn(service)).cookie
  }
  const choose = (page: Page, menu: string, item: string) =>
    page
      .getByRole('button', { name: menu })
      .click()
      .then(() => page.getByRole('menuitem', { name: item }).click())

  const PAGES = [
    ['general', 'Delete workspace'],
    ['members', 'ada@example.com'],
    ['connect', 'No expiry'],
    ['audit', 'created the workspace'],
    ['profile', 'Appearance'],
    ['security', 'Recovery codes'],
    ['sessions', 'this session'],
    ['instance', 'running'],
    ['people', 'operator'],
    ['workspaces', 'Create workspace'],
  ] as const
  test('are accessible and fit, in English and German', async () => {
    await on('/settings', async (page, { origin }) => {
      for (const [name, text] of PAGES) {
        await page.goto(`${origin}/app/settings/${name}`)
        await page.getByText(text).first().waitFor()
        if (name === 'instance') await page.getByText('schema', { exact: true }).waitFor()
        await expectAccessible(page)
      }
      await page.evaluate("localStorage.setItem('terse-language', 'de')")
      await page.setViewportSize({ width: 360, height: 800 })
      for (const [name] of PAGES) {
        await page.goto(`${origin}/app/settings/${name}`)
        await page.getByRole('heading', { name: 'Einstellungen' }).waitFor()
        await page.locator('.settings .body > *').first().waitFor()
        await expectNoSidewaysScroll(page)
        await page.waitForFunction(CURRENT_IS_IN_VIEW)
      }
    })
  })

  test('renames a workspace, and says what is wrong with a name', async () => {
    await on('/settings/general', async (page, { faults }) => {
      const name = page.getByLabel('Name', { exact: true })
      const slug = page.getByLabel('Slug')
      await slug.fill('Not A Slug')
      await page.getByRole('button', { name: 'Save name' }).click()
      await page.locator('.err').waitFor()
      assert.equal(await slug.getAttribute('aria-invalid'), 'true')
      await page.getByRole('link', { name: 'Members' }).click()
      await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
      await page.getByRole('button', { name: 'Keep editing' }).click()
      await slug.fill('acme')
      await name.fill('Acme Größe')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: /Acme Größe$/ }).waitFor()
      await name.fill('acme')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: /acme$/ }).waitFor()
      dropRefusals(faults, 1)
    })
  })

  test('creates a workspace, and deletes it only when its name is typed', async () => {
    await freshly()
    await on('/settings/workspaces', async (page) => {
      await page.getByRole('button', { name: 'Create workspace' }).click()
      await page.getByLabel('Name').fill('Short Lived')
      await page.keyboard.press('Enter')
      await page.getByText('Short Lived created').waitFor()
      await page.getByRole('button', { name: 'Open: Short Lived' }).click()
      await page.getByText('Paste a long URL').waitFor()
      await page.getByRole('link', { name: 'Settings' }).first().click()
      await page.getByRole('button', { name: 'Delete workspace' }).click()
      const dialog = page.getByRole('dialog', { name: 'Delete Short Lived?' })
      await expectAccessible(page)
      assert.equal(
        await dialog.getByRole('button', { name: 'Delete workspace' }).isDisabled(),
        true,
      )
      await dialog.getByLabel('Type Short Lived to confirm').fill('Short Lived')
      await dialog.getByRole('button', { name: 'Delete workspace' }).click()
      await page.getByText('Short Lived deleted').waitFor()
      await page.getByRole('button', { name: /acme/ }).waitFor()
    })
  })

  test('deletes a link at once when another workspace is opened', async () => {
    await freshly()
    expectStatus(await ada.post('/workspaces', { name: 'other' }), 201)
    const fields = { domain: 'localhost', key: 'left', url: 'https://example.com/' }
    const { id } = expectStatus(await ada.post('/links', fields), 201).body
    await on('/links', async (page) => {
      await page.getByRole('button', { name: 'Actions for left' }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await page.getByText('Deleted localhost/left').waitFor()
      const deleted = page.waitForResponse((answer) => answer.request().method() === 'DELETE')
      await page.getByRole('button', { name: /acme$/ }).click()
      await page.getByRole('menuitemradio', { name: 'other' }).click()
      assert.equal((await deleted).status(), 200)
      await page.getByText('Paste a long URL').waitFor()
    })
    expectStatus(await ada.get(`/links/${id}`), 404)
  })

  test('shows the link of an invitation once, and withdraws it', async () => {
    await on('/settings/members', async (page, { faults }) => {
      await page.getByRole('button', { name: 'Invite' }).click()
      await page.getByLabel('E-mail').fill('ada@example.com')
      await page.keyboard.press('Enter')
      await page.getByText('Is that of a member').waitFor()
      await page.getByLabel('E-mail').fill('eve@example.com')
      await page.getByLabel('Role', { exact: true }).selectOption('viewer')
      await page.getByRole('button', { name: 'Create invitation' }).click()
      await page.getByRole('dialog', { name: 'Invitation of eve@example.com' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Copy link' }).click()
      await expectCopied(page, /\/app\/invitation#code=[\w-]{43}$/)
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByText('eve@example.com').waitFor()
      await page.getByRole('button', { name: 'Withdraw invitation: eve@example.com' }).click()
      await page.getByText('Invitation of eve@example.com withdrawn').waitFor()
      dropRefusals(faults, 1)
    })
  })

  test('changes the role of a member, makes a reset link, and removes the member', async () => {
    await freshly()
    await join('bob', 'viewer')
    await on('/settings/members', async (page) => {
      await page.getByRole('button', { name: 'Role of bob: Viewer' }).click()
      await page.getByRole('menuitemradio', { name: 'Admin' }).click()
      await page.getByRole('button', { name: 'Role of bob: Admin' }).waitFor()
      await page.keyboard.press('Escape')
      await choose(page, 'Actions for bob', 'Link for a new password')
      await page.getByRole('button', { name: 'Make link' }).click()
      const link = await page.getByLabel('Link', { exact: true }).inputValue()
      assert.match(link, /\/app\/reset#code=/)
      await page.getByRole('button', { name: 'Done' }).click()
      await choose(page, 'Actions for bob', 'Remove from workspace')
      await page.getByRole('button', { name: 'Remove from workspace' }).click()
      await page.getByText('bob removed').waitFor()
      await page.getByText('bob@example.com').waitFor({ state: 'detached' })
    })
  })

  test('creates a token, shows it once, and revokes it', async () => {
    await freshly()
    await on('/settings/connect', async (page, { faults }) => {
      await page.getByRole('button', { name: 'Create token' }).click()
      await page.getByLabel('Name').fill('Shop backend')
      await page.getByLabel('Expires').selectOption('custom')
      await page.getByLabel('Last day').fill('2020-01-01')
      await page.getByRole('checkbox', { name: /Read and export clicks/ }).check()
      await expectAccessible(page)
      const create = page.getByRole('dialog').getByRole('button', { name: 'Create token' })
      await create.click()
      await page.getByText('Must be in the future').waitFor()
      await page.getByLabel('Expires').selectOption('never')
      await create.click()
      const secret = await page.getByLabel('Token', { exact: true }).inputValue()
      const answer = await fetch(`${service.baseUrl}/api/v1/links`, {
        headers: { authorization: `Bearer ${secret}` },
      })
      assert.equal(answer.status, 200)
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByText('Reads links, writes links, reads clicks').waitFor()
      await page.getByRole('button', { name: 'Revoke: Shop backend' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
      await page.getByText('Shop backend revoked').waitFor()
      dropRefusals(faults, 1)
    })
  })

  test('keeps a form whose session has ended, and goes on after a sign-in', async () => {
    await freshly()
    await on('/settings/members', async (page, { faults }) => {
      await page.getByRole('button', { name: 'Invite' }).click()
      await page.getByLabel('E-mail').fill('kept@example.com')
      expectStatus(await ada.delete('/session'), 200)
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog', { name: 'Sign in' })
      await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('dialog', { name: 'Invitation of kept@example.com' }).waitFor()
      dropRefusals(faults, 1)
    })
    await freshly()
  })

  test('shows changes in words with before and after, and keeps filters in the address', async () => {
    const link = { domain: 'localhost', key: 'audited', url: 'https://example.com/a' }
    const { id } = expectStatus(await ada.post('/links', link), 201).body
    expectStatus(await ada.patch(`/links/${id}`, { url: 'https://example.com/b' }), 200)
    const template = expectStatus(await ada.post('/utm-templates', { name: 'audited' }), 201).body
    expectStatus(await ada.patch(`/utm-templates/${template.id}`, { utm_source: 'a' }), 200)
    expectStatus(await ada.get('/export'), 200)
    await on('/settings/audit', async (page) => {
      await page.getByText('changed localhost/audited').waitFor()
      await page.getByText(/exported the workspace acme/).waitFor()
      await page.getByText(/changed the UTM template audited/).waitFor()
      await page.getByLabel('Kind').selectOption('links')
      await page.getByText('https://example.com/b').waitFor()
      assert.equal(new URL(page.url()).search, '?kind=links')
      await page.getByText('created the workspace').waitFor({ state: 'detached' })
      await expectAccessible(page)
      await page.getByLabel('To').fill('2020-01-01')
      await page.getByText('No change matches.').waitFor()
      await page.reload()
      assert.equal(await page.getByLabel('Kind').inputValue(), 'links')
    })
  })

  test('shows the values of a change in the activity of its link', async () => {
    const link = { domain: 'localhost', key: 'active', url: 'https://example.com/before' }
    const { id } = expectStatus(await ada.post('/links', link), 201).body
    expectStatus(await ada.patch(`/links/${id}`, { url: 'https://example.com/after' }), 200)
    await on(`/links/${id}`, async (page) => {
      await page.getByText(/^2 changes, the last by .+: /).click()
      const changes = page.getByRole('listitem').filter({ hasText: 'changed the destination from' })
      await changes.getByText('example.com/before').waitFor()
      await changes.getByText('example.com/after').waitFor()
    })
  })

  test('reads the audit trail page by page, each change once', async () => {
    const names = Array.from({ length: 60 }, (_, nth) => `paged-${nth}`)
    for (const key of names) {
      const link = { domain: 'localhost', key, url: 'https://example.com/' }
      expectStatus(await ada.post('/links', link), 201)
    }
    await on('/settings/audit?kind=links', async (page) => {
      await page.getByText('localhost/paged-59').waitFor()
      assert.equal(await page.locator('.log > li').count(), 50)
      await page.getByRole('button', { name: 'Show more' }).click()
      await page.getByText('localhost/paged-0', { exact: true }).waitFor()
      assert.equal(await page.getByText('localhost/paged-59').count(), 1)
    })
  })

  test('changes the name, the theme and the language, and turns single keys off', async () => {
    await on('/settings/profile', async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('Ada Byron')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: /Ada Byron/ }).waitFor()
      await page.getByLabel('Theme').selectOption('dark')
      await page.locator('html[data-theme=dark]').waitFor()
      await page.getByRole('checkbox', { name: /Single keys/ }).uncheck()
      await page.getByRole('heading', { name: 'Settings' }).click()
      await page.keyboard.press('c')
      await page.getByLabel('Language').selectOption('de')
      await page.getByRole('heading', { name: 'Einstellungen' }).waitFor()
      assert.equal(new URL(page.url()).pathname, '/app/settings/profile')
    })
  })

  test('sets up an authenticator app, recovery codes and a new password', async () => {
    const carol = await join('carol', 'member')
    await on(
      '/settings/security',
      async (page, { faults }) => {
        await page.getByRole('button', { name: 'Set up' }).click()
        await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
        await expectAccessible(page)
        const secret = await page.getByLabel('Key', { exact: true }).inputValue()
        const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({
          timestamp: clock.nowMicros() / 1_000,
        })
        await page.getByLabel('Code that the app shows').fill('000000')
        await page.keyboard.press('Enter')
        await page.getByText('Is wrong; check the clock of the device').waitFor()
        await page.getByLabel('Code that the app shows').fill(code)
        await page.keyboard.press('Enter')
        await page.getByText('Authenticator app set up.', { exact: false }).waitFor()
        await page.getByRole('button', { name: 'Get new codes' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Get new codes' }).click()
        await page.getByRole('button', { name: 'Copy codes' }).click()
        const codes = await expectCopied(page, /^(?:\S+\n){9}\S+$/)
        assert.equal(new Set(codes.split('\n')).size, 10)
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: 'Download' }).click(),
        ])
        assert.match(file.suggestedFilename(), /^terse-recovery-codes-.*\.txt$/)
        await expectAccessible(page)
        await page.getByRole('button', { name: 'I have saved them' }).click()
        await page.getByText('10 codes left').waitFor()
        await page.getByLabel('New password').fill('short')
        await page.keyboard.press('Enter')
        await page.getByText('Must have at least 10 characters').waitFor()
        await page.getByLabel('New password').fill('ten or more!')
        await page.keyboard.press('Enter')
        await page.getByText('Password changed. All other sessions have ended.').waitFor()
        await page.getByRole('button', { name: 'Remove', exact: true }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
        await page.getByRole('dialog').getByRole('alert').waitFor()
        dropRefusals(faults, 3)
      },
      { as: carol },
    )
  })

  test('unlinks the account of the single sign-on, or says why not', async () => {
    const identity = { id: 'one', issuer: 'https://id.example', linked_at: '2026-11-01T00:00:00Z' }
    await on('/settings/profile', async (page, { faults, origin }) => {
      const options = { setup_required: false, oidc: { name: 'Acme SSO' }, mail: false }
      await page.route(`${origin}/api/v1/sign-in-options`, (route) =>
        route.fulfill({ json: options }),
      )
      let identities = [identity]
      await page.route(`${origin}/api/v1/me`, async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: { ...(await response.json()), identities } })
      })
      let isLast = true
      await page.route(`${origin}/api/v1/me/identities/one`, (route) => {
        assert.equal(route.request().method(), 'DELETE')
        const message = 'is your last way to sign in; set a password first'
        const faults = { id: [{ code: 'last_way_in', message }] }
        const json = { code: 'validation_failed', message: `id ${message}`, faults }
        if (isLast) return route.fulfill({ status: 422, json })
        identities = []
        return route.fulfill({ json: { message: 'Account unlinked.' } })
      })
      await page.goto(`${origin}/app/settings/security`)
      await page.getByRole('button', { name: 'Unlink: https://id.example' }).click()
      const dialog = page.getByRole('dialog', { name: 'Unlink https://id.example?' })
      await dialog.getByRole('button', { name: 'Unlink' }).click()
      await dialog.getByText('your last way to sign in', { exact: false }).waitFor()
      isLast = false
      await dialog.getByRole('button', { name: 'Unlink' }).click()
      await page.getByText('https://id.example unlinked').waitFor()
      await page.getByText('No account is linked.').waitFor()
      dropRefusals(faults, 1)
    })
  })

  test('lists sessions, and ends one or all others', async () => {
    await signIn(service)
    await signIn(service)
    await on('/settings/sessions', async (page) => {
      const rows = page.locator('.rows > li')
      await page.getByText('this session').waitFor()
      const before = await rows.count()
      await page.getByRole('button', { name: 'End session: Firefox on Linux' }).first().click()
      await page.getByText('Session ended').waitFor()
      assert.ok((await rows.count()) <= before)
      await page.getByRole('button', { name: 'End all others' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click()
      await page.getByText('All other sessions have ended').waitFor()
      await rows.nth(1).waitFor({ state: 'detached' })
    })
  })

  test('disables a person and makes one an operator', async () => {
    await freshly()
    const dora = await join('dora', 'viewer')
    await on('/settings/people', async (page) => {
      await choose(page, 'Actions for dora', 'Make operator')
      await page.getByText('dora is an operator').waitFor()
      await choose(page, 'Actions for dora', 'Disable')
      await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
      await page.getByText('dora disabled').waitFor()
      assert.equal((await dora.get('/session')).status, 401)
      await choose(page, 'Actions for dora', 'Enable')
      await page.getByText('dora enabled').waitFor()
    })
  })

  test('shows a viewer only what a viewer may see, and says why at other addresses', async () => {
    const vera = await join('vera', 'viewer')
    await on(
      '/settings',
      async (page, { origin }) => {
        await page.getByText('This needs the role Admin in this workspace.').first().waitFor()
        assert.equal(await page.getByRole('button', { name: 'Save name' }).count(), 0)
        assert.equal(await page.getByRole('button', { name: 'Delete workspace' }).count(), 0)
        const nav = page.getByRole('navigation', { name: 'Settings' })
        const names = await nav.getByRole('link').allTextContents()
        assert.equal(names.join(), 'General,Labels,Rule sets,Connect,Profile,Sign-in,Sessions')
        assert.equal(await page.getByRole('button', { name: 'Create token' }).count(), 0)
        await page.goto(`${origin}/app/settings/webhooks`)
        await page.getByText('This needs the role Admin in this workspace.').waitFor()
        await page.goto(`${origin}/app/settings/general`)
        await page.getByRole('button', { name: 'Leave workspace' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Leave workspace' }).click()
        await page.getByText('You have left acme').waitFor()
        await page.getByText('You are not a member of a workspace yet.').waitFor()
      },
      { as: vera },
    )
  })

  for (const hasEnded of [true, false]) {
    const when = hasEnded ? 'after the session has ended' : 'while the session goes on'
    test(`sends nothing that a person has typed as another who signs in elsewhere, ${when}`, async () => {
      const key = hasEnded ? 'ended' : 'going-on'
      const other = await join(`grace-${key}`, 'member')
      await on(
        `/links/new?key=${key}`,
        async (page, { context, faults, origin }) => {
          await page.getByLabel('Destination', { exact: true }).fill('https://example.com/')
          if (hasEnded) {
            await context.clearCookies()
            // Asking for the key's availability may open the dialog first, which hides the button.
            const create = { name: 'Create link', includeHidden: true }
            await page.getByRole('button', create).dispatchEvent('click')
            await page.getByRole('dialog', { name: 'Sign in' }).waitFor()
          }
          const [name = '', value = ''] = other.cookie.split('=')
          await context.addCookies([{ name, value, url: origin }])
          // The page asks before what was typed is lost.
          page.on('dialog', (asked) => void asked.accept())
          const loaded = page.waitForEvent('load')
          await page.evaluate("dispatchEvent(new Event('focus'))")
          await loaded
          await page.getByRole('button', { name: new RegExp(`grace-${key}`) }).waitFor()
          faults.splice(0) // The browser reports the 401.
        },
        { as: { ...ada, ...(await signIn(service)) } },
      )
      assert.equal((await ada.get(`/links?search=${key}`)).body.meta.total, 0)
    })
  }

  for (const [locale, warning] of [
    ['en-GB', 'come through a proxy at 172.18.0.5 that is not trusted'],
    ['de-DE', 'kommen über einen Proxy an 172.18.0.5, dem nicht vertraut wird'],
  ] as const) {
    test(`the page of the instance warns of an untrusted proxy: ${locale}`, async () => {
      const { beat_at: _, ...node } = newNode('behind-a-proxy')
      await service.instance.nodes.beat({ ...node, untrusted_proxy: '172.18.0.5' })
      await on('/settings/instance', (page) => page.getByText(warning).waitFor(), { locale })
    })
  }
})
