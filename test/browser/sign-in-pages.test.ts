import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import type { Browser, Page } from 'playwright-core'
import { openPeople } from '../../src/app/composition/services.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { INSTANCE } from '../../src/storage/event-log.ts'
import { newPasskey } from '../storage/samples.ts'
import { expectAccessible } from '../support/accessibility.ts'
import { expectStatus } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { dropRefusals, inPersonPage } from '../support/dashboard.ts'
import { SQLITE } from '../support/engines.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { invite, PASSWORD, type PersonClient, setUp, signIn } from '../support/person-client.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

const ADA = 'ada@example.com'
const TOO_OLD_SECONDS = 11 * 60
const OTHER_PASSWORD = 'another battery staple horse'

const pathOf = (url: string) => url.replace(/^.*\/app/, '')

// Storage plays no part here: one engine is enough.
describe('the pages before a sign-in', { skip: skipWithout('chromium') }, () => {
  let browser: Browser
  let service: Service
  let ada: PersonClient
  let clock: FakeClock
  before(async () => {
    browser = await launchChromium()
    clock = fakeClock(Date.now())
    service = await startService(SQLITE, {}, { clock })
    await service.token('acme')
    ada = await setUp(service, ADA)
    ada.workspaceId = (await service.instance.workspaces.get('acme')).id
    const link = { domain: 'localhost', key: 'first', url: 'https://example.com/first' }
    expectStatus(await ada.post('/links', link), 201)
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  const on = (
    path: string,
    use: Parameters<typeof inPersonPage>[3],
    options?: Parameters<typeof inPersonPage>[4],
  ) => inPersonPage(browser, service, path, use, options)

  const join = (name: string, role?: string) => invite(service, ada, name, role)

  test('focuses the first field that was refused, and announces the number of faults', async () => {
    await on('/sign-in', async (page, { faults }) => {
      await page.getByLabel('E-mail').fill('nobody@example.com')
      await page.getByLabel('Password', { exact: true }).fill('not the password')
      for (const _ of ['first', 'again']) {
        await page.getByRole('button', { name: 'Sign in', exact: true }).click()
        await page.getByLabel('Password', { exact: true }).and(page.locator(':focus')).waitFor()
        await page.getByRole('status').filter({ hasText: '1 field has an error' }).waitFor()
        await page.getByLabel('E-mail').focus()
      }
      dropRefusals(faults, 2)
    })
  })

  test('signs in with a password, and goes where the person wanted to go', async () => {
    await on('/links?search=first', async (page, { faults }) => {
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await expectAccessible(page)
      await page.getByLabel('E-mail').fill(ADA)
      await page.getByLabel('Password', { exact: true }).fill('not the password')
      await page.keyboard.press('Enter')
      await page.getByText('The e-mail address or the password is wrong.').waitFor()
      assert.equal(await page.getByLabel('E-mail').inputValue(), ADA)
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByText('example.com/first').first().waitFor()
      assert.equal(new URL(page.url()).search, '?search=first')
      dropRefusals(faults, 2)
    })
  })

  test('shows a typed password, and leads to nothing outside of the dashboard', async () => {
    await on('/sign-in?to=//evil.example/', async (page) => {
      const password = page.getByLabel('Password', { exact: true })
      await password.fill(PASSWORD)
      await page.getByRole('button', { name: 'Show password' }).click()
      assert.equal(await password.getAttribute('type'), 'text')
      await page.getByLabel('E-mail').fill(ADA)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('link', { name: 'Create link' }).first().waitFor()
      assert.equal(new URL(page.url()).pathname, '/app/links')
    })
  })

  test('says what to do about a forgotten password, with and without mail', async () => {
    await on('/sign-in', async (page, { origin }) => {
      await page.getByLabel('E-mail').fill(ADA)
      await page.getByRole('button', { name: 'Forgot it?' }).click()
      await page.getByText(`npx terse person reset ${ADA}`).waitFor()
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Back' }).click()
      assert.equal(await page.getByLabel('E-mail').inputValue(), ADA)
      const oidc = { name: 'Acme SSO' }
      const options = { setup_required: false, oidc, mail: true, base_url: origin }
      await page.route(`${origin}/api/v1/sign-in-options`, (route) =>
        route.fulfill({ json: options }),
      )
      await page.route(`${origin}/api/v1/password-resets`, (route) =>
        route.fulfill({ status: 202, json: { message: 'An e-mail is on its way.' } }),
      )
      await page.goto(`${origin}/app/sign-in?error=oidc_unknown&to=/links/new`)
      await page.getByText('No account here is linked to it.', { exact: false }).waitFor()
      const provider = page.getByRole('link', { name: 'Continue with Acme SSO' })
      const href = await provider.getAttribute('href')
      assert.equal(href, '/app/oidc/start?return_to=%2Fapp%2Flinks%2Fnew')
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Forgot it?' }).click()
      await page.getByLabel('E-mail').fill(ADA)
      await page.getByRole('button', { name: 'Send link' }).click()
      await page.getByText('an e-mail is on its way', { exact: false }).waitFor()
    })
  })

  test('takes a new person in by an invitation, and refuses its code afterwards', async () => {
    const given = { email: 'grace@example.com', role: 'viewer' }
    const { body } = expectStatus(await ada.post('/invitations', given), 201)
    await on(pathOf(body.url), async (page, { faults, origin }) => {
      await page.getByRole('heading', { name: 'Join acme' }).waitFor()
      assert.equal(new URL(page.url()).hash, '')
      await page.getByText('grace@example.com is invited as Viewer.').waitFor()
      await expectAccessible(page)
      await page.getByLabel('Your name').fill('Grace Hopper')
      await page.getByLabel('Choose a password').fill('grace@example.com')
      await page.keyboard.press('Enter')
      await page.getByText('Must not be your name or e-mail address').waitFor()
      await page.getByLabel('Choose a password').fill(OTHER_PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'Create link' }).first().waitFor()
      // The message outlives the page that it came from.
      await page.getByText('You are a member of acme').waitFor()
      dropRefusals(faults, 2)
      await page.goto(`${origin}/app/settings/profile`)
      await page.goto(`${origin}/app${pathOf(body.url)}`)
      await page.getByText('This invitation was used', { exact: false }).waitFor()
      await page.goto(`${origin}/app/invitation`)
      await page.getByText('The link is incomplete.', { exact: false }).waitFor()
      dropRefusals(faults, 1)
    })
  })

  test('lets only the invited person accept, after a sign-in', async () => {
    await join('vera')
    const owner = await signIn(service)
    owner.workspaceId = expectStatus(
      await owner.post('/workspaces', { name: 'second' }),
      201,
    ).body.id
    const given = { email: 'vera@example.com', role: 'member' }
    const { body } = expectStatus(await owner.post('/invitations', given), 201)
    await on(
      pathOf(body.url),
      async (page, { faults }) => {
        await page.getByText(`you are signed in as ${ADA}`, { exact: false }).waitFor()
        const signOut = 'Sign out and continue as vera@example.com'
        await page.getByRole('button', { name: signOut }).click()
        await page.getByLabel('Your name').waitFor()
        await page.getByRole('button', { name: 'I have an account here' }).click()
        await page.getByText('Sign in as vera@example.com to accept.').waitFor()
        await expectAccessible(page)
        await page.getByRole('button', { name: 'I am new here' }).click()
        await page.getByRole('button', { name: 'I have an account here' }).click()
        await expectAccessible(page)
        await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
        await page.keyboard.press('Enter')
        // Her address is unproved: the first inviter may know the password.
        await page.getByText('is not proved to be yours yet', { exact: false }).waitFor()
        await expectAccessible(page)
        await page.getByLabel('Choose a password').fill(OTHER_PASSWORD)
        await page.keyboard.press('Enter')
        await page.getByText('You are a member of second').waitFor()
        dropRefusals(faults, 2)
      },
      { as: owner },
    )
  })

  test('sets a new password with a link, once', async () => {
    const id = expectStatus(await (await join('rosa')).get('/me'), 200).body.id
    const operator = await signIn(service)
    const { body } = expectStatus(await operator.post(`/people/${id}/password-reset`), 201)
    await on(pathOf(body.url), async (page, { faults, origin }) => {
      await page.getByRole('heading', { name: 'Set a new password' }).waitFor()
      await expectAccessible(page)
      await page.getByLabel('New password').fill('aaaaaaaaaaaaaaaaaaa')
      await page.keyboard.press('Enter')
      await page.getByText('Is too easy to guess', { exact: false }).waitFor()
      await page.getByLabel('New password').fill(OTHER_PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByText('Password changed').waitFor()
      await page.goto(`${origin}/livez`)
      await page.goto(`${origin}/app${pathOf(body.url)}`)
      await page.getByText('it was used, replaced or has expired', { exact: false }).waitFor()
      dropRefusals(faults, 2)
    })
  })

  test('a reset keeps the passkeys and accounts that are ticked, and says when none can stay', async () => {
    const { id } = expectStatus(await (await join('paula')).get('/me'), 200).body
    const [laptop, foreign] = [newPasskey(id), newPasskey(id, { name: 'Foreign' })]
    const identity = {
      issuer: 'https://id.example.com',
      subject: 'p',
      person_id: id,
      created_at: 1,
    }
    const { store } = service.instance
    await store.write(async (stores) => {
      for (const passkey of [laptop, foreign]) await stores.passkeys.insert(passkey)
      await stores.identities.insert(identity)
    })
    const { resetLinks } = openPeople(service.instance)
    const { code } = await resetLinks.create(commandLine(INSTANCE), id)
    await on(`/reset#code=${code}`, async (page) => {
      await page.getByRole('group', { name: 'Which of these are yours?' }).waitFor()
      await expectAccessible(page)
      await page.getByLabel('Passkey “Laptop”').check()
      await page.getByLabel('https://id.example.com').check()
      await page.getByLabel('New password').fill(OTHER_PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByText('Password changed').waitFor()
    })
    assert.deepEqual(
      (await store.read.passkeys.list(id)).map((passkey) => passkey.id),
      [laptop.id],
    )
    assert.equal((await store.read.identities.list(id)).length, 1)
    const person = await store.read.people.findById(id)
    assert.ok(person)
    const mailed = await resetLinks.createForMail(commandLine(INSTANCE), person)
    await on(`/reset#code=${mailed.code}`, async (page) => {
      await page.getByText('Passkey “Laptop”, https://id.example.com', { exact: false }).waitFor()
      await expectAccessible(page)
      await page.getByLabel('New password').fill(PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByText('Password changed').waitFor()
    })
    assert.deepEqual(await store.read.passkeys.list(id), [])
  })

  test('asks for the second factor: a code of the app, or a recovery code', async () => {
    const tina = await join('tina')
    const { secret } = expectStatus(await tina.post('/me/totp'), 201).body
    const code = () =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({
        timestamp: clock.nowMicros() / 1_000,
      })
    expectStatus(await tina.put('/me/totp', { code: code() }), 200)
    const { codes } = expectStatus(await tina.post('/me/recovery-codes'), 201).body
    clock.move(60)
    async function toSecondStep(page: Page): Promise<void> {
      await page.getByLabel('E-mail').fill('tina@example.com')
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Second step' }).waitFor()
    }
    await on('/sign-in', async (page, { faults }) => {
      await toSecondStep(page)
      await expectAccessible(page)
      await page.getByLabel('Code', { exact: true }).fill('000000')
      await page.keyboard.press('Enter')
      await page.getByText('Is wrong, or was used before').waitFor()
      await page.getByLabel('Code', { exact: true }).fill(code())
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'Links' }).first().waitFor()
      dropRefusals(faults, 2)
    })
    await on('/sign-in', async (page, { faults }) => {
      await toSecondStep(page)
      await page.getByRole('button', { name: 'Use a recovery code' }).click()
      await page.getByLabel('Recovery code').fill(codes[0])
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'Links' }).first().waitFor()
      dropRefusals(faults, 1)
    })
  })

  test('makes a passkey, and signs in with it alone and as the second factor', async () => {
    const alan = await join('alan')
    await on(
      '/settings/security',
      async (page, { context, faults, origin }) => {
        async function leave(): Promise<void> {
          // A request of the page that is left must not find the session gone.
          await page.goto(`${origin}/livez`)
          await context.clearCookies()
        }
        const cdp = await context.newCDPSession(page)
        await cdp.send('WebAuthn.enable')
        await cdp.send('WebAuthn.addVirtualAuthenticator', {
          options: {
            protocol: 'ctap2',
            transport: 'internal',
            hasResidentKey: true,
            hasUserVerification: true,
            isUserVerified: true,
            automaticPresenceSimulation: true,
          },
        })
        await page.getByRole('button', { name: 'Add passkey' }).click()
        await page.getByLabel('Name').fill('Laptop')
        await page.keyboard.press('Enter')
        await page.getByText('Passkey added').waitFor()
        await page.getByText('Laptop').waitFor()
        await leave()
        await page.goto(`${origin}/app/sign-in`)
        // The browser has suggested it; the virtual authenticator takes every suggestion.
        await page.getByRole('link', { name: 'Create link' }).first().waitFor()
        await leave()
        await page.addInitScript(
          'PublicKeyCredential.isConditionalMediationAvailable = async () => false',
        )
        await page.goto(`${origin}/app/sign-in`)
        await page.getByRole('button', { name: 'Continue with a passkey' }).click()
        await page.getByRole('link', { name: 'Create link' }).first().waitFor()
        await leave()
        await page.goto(`${origin}/app/sign-in`)
        await page.getByLabel('E-mail').fill('alan@example.com')
        await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
        await page.keyboard.press('Enter')
        await page.getByRole('button', { name: 'Use a passkey' }).click()
        await page.getByRole('link', { name: 'Create link' }).first().waitFor()
        dropRefusals(faults, 1)
      },
      { as: alan },
    )
  })

  test('asks to confirm the identity for what needs a fresh sign-in, and then does it', async () => {
    await join('carl', 'viewer')
    const use: Parameters<typeof on>[1] = async (page, { origin, faults }) => {
      const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
      const confirm = async (password = PASSWORD) => {
        await dialog.getByLabel('Password', { exact: true }).fill(password)
        await dialog.getByRole('button', { name: 'Continue', exact: true }).click()
      }
      await page.getByRole('button', { name: 'Create token' }).waitFor()
      clock.move(TOO_OLD_SECONDS)
      await page.getByRole('button', { name: 'Create token' }).click()
      await page.getByLabel('Name').fill('After a step-up')
      await page.keyboard.press('Enter')
      await confirm('not the password')
      await dialog.getByText('Is wrong').waitFor()
      await expectAccessible(page)
      await confirm()
      await page.getByRole('dialog', { name: 'Token After a step-up' }).waitFor()

      await page.goto(`${origin}/app/settings/members`)
      await page.getByRole('button', { name: 'Role of carl: Viewer' }).click()
      clock.move(TOO_OLD_SECONDS)
      await page.getByRole('menuitemradio', { name: 'Admin' }).click()
      await confirm()
      await page.getByRole('button', { name: 'Role of carl: Admin' }).waitFor()

      clock.move(TOO_OLD_SECONDS)
      await page.getByRole('button', { name: 'Invite' }).click()
      await page.getByLabel('E-mail').fill('dora@example.com')
      await page.getByLabel('Role', { exact: true }).selectOption('admin')
      await page.getByRole('button', { name: 'Create invitation' }).click()
      await confirm()
      await page.getByRole('dialog', { name: 'Invitation of dora@example.com' }).waitFor()

      await page.goto(`${origin}/app/settings/imports`)
      await page.getByRole('button', { name: 'Download' }).waitFor()
      clock.move(TOO_OLD_SECONDS)
      const downloading = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Download' }).click()
      await confirm()
      assert.equal((await downloading).suggestedFilename(), 'acme.zip')
      dropRefusals(faults, 5)
    }
    await on('/settings/connect', use, { as: await signIn(service) })
  })

  test('speaks German to a browser that asks for it', async () => {
    await on(
      '/sign-in',
      async (page, { faults }) => {
        await page.getByLabel('E-Mail').fill('nobody@example.com')
        await page.getByLabel('Passwort', { exact: true }).fill(PASSWORD)
        await page.keyboard.press('Enter')
        await page.getByText('E-Mail-Adresse oder Passwort ist falsch.').waitFor()
        await expectAccessible(page)
        dropRefusals(faults, 1)
      },
      { locale: 'de-DE' },
    )
  })
})
