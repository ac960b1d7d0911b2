import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { BrowserContext, CDPSession, Page } from 'playwright-core'
import type { Answer } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { SQLITE } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { PASSWORD, setUp } from '../support/person-client.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

const EMAIL = 'ada@example.com'

/** The JSON form of what the browser returns. */
type Credential = { readonly response: Readonly<Record<string, string>> }
type Reply = Pick<Answer, 'status' | 'body'>

const CREATE = `async (options) => {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  return (await navigator.credentials.create({ publicKey })).toJSON()
}`
const GET = `async (options) => {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  return (await navigator.credentials.get({ publicKey })).toJSON()
}`

describe('passkeys in Chromium, with a virtual authenticator', {
  skip: skipWithout('chromium'),
}, () => {
  const clock = fakeClock(Date.now())
  let service: Service
  /** Ends what runs, also after a start that failed: otherwise this process would not end. */
  const started = new AsyncDisposableStack()
  let context: BrowserContext
  let page: Page
  let cdp: CDPSession
  let authenticatorId: string

  before(async () => {
    service = await startService(SQLITE, {}, { clock })
    started.defer(() => service.stop())
    const { cookie } = await setUp(service)
    const browser = await launchChromium()
    started.defer(() => browser.close())
    context = await browser.newContext()
    const [name = '', value = ''] = cookie.split('=')
    await context.addCookies([{ name, value, domain: 'localhost', path: '/' }])
    page = await context.newPage()
    await page.goto(`http://localhost:${service.port}/livez`)
    cdp = await context.newCDPSession(page)
    await cdp.send('WebAuthn.enable')
    authenticatorId = await addAuthenticator(true)
  })
  after(() => started.disposeAsync())
  beforeEach(() => clock.move(60))

  async function addAuthenticator(verifiesUser: boolean): Promise<string> {
    const added = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: verifiesUser,
        automaticPresenceSimulation: true,
      },
    })
    return added.authenticatorId
  }

  function call(method: string, path: string, body?: object): Promise<Reply> {
    const target = { method, path: `/api/v1${path}`, body: body && JSON.stringify(body) }
    return page.evaluate(async ({ method, path, body }) => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(path, { method, headers, ...(body && { body }) })
      const text = await response.text()
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
    }, target)
  }

  /** Runs a function of the page, whose types this file does not know. */
  function inPage(script: string, options: object): Promise<Credential> {
    return page.evaluate(`(${script})(${JSON.stringify(options)})`)
  }

  /** Has the authenticator make a passkey; returns what the browser would send. */
  async function create(): Promise<Credential> {
    const { body } = await call('POST', '/me/passkeys/options')
    return inPage(CREATE, body.public_key)
  }

  /** Has the authenticator answer a new challenge. */
  async function prove(changes: object = {}): Promise<Credential> {
    const { body } = await call('POST', '/session/passkey-options')
    return inPage(GET, { ...body.public_key, ...changes })
  }

  async function registered(): Promise<string> {
    const { body } = await call('GET', '/me/passkeys')
    return body.data[0].id
  }

  test('a passkey is added, listed and renamed, and its challenge works once', async () => {
    const registration = await create()
    const added = await call('POST', '/me/passkeys', { name: 'Laptop', registration })
    assert.equal(added.status, 201, JSON.stringify(added.body))
    assert.deepEqual((await call('GET', '/me/passkeys')).body.data, [added.body])
    assert.equal(added.body.last_used_at, null)
    const again = await call('POST', '/me/passkeys', { name: 'Copy', registration })
    assert.deepEqual([again.status, Object.keys(again.body.errors)], [422, ['registration']])
    const renamed = await call('PATCH', `/me/passkeys/${added.body.id}`, { name: 'Work' })
    assert.deepEqual(renamed.body, { ...added.body, name: 'Work' })
    assert.equal((await call('GET', '/me')).body.passkeys, 1)
  })

  test('it signs in alone, without an e-mail address, and proves itself again later', async () => {
    assert.equal((await call('DELETE', '/session')).status, 200)
    assert.equal((await call('GET', '/me')).status, 401)
    const signedIn = await call('POST', '/session', { passkey: await prove() })
    assert.equal(signedIn.status, 201, JSON.stringify(signedIn.body))
    assert.equal(signedIn.body.person.email, EMAIL)
    clock.move(20 * 60)
    assert.equal((await call('POST', '/me/totp')).body.code, 'authentication_required')
    const fresh = await call('POST', '/session/authenticate', { passkey: await prove() })
    assert.equal(fresh.status, 200, JSON.stringify(fresh.body))
    assert.equal((await call('POST', '/me/totp')).status, 201)
    assert.ok((await call('GET', '/me/passkeys')).body.data[0].last_used_at)
  })

  test('it is the second factor beside the password', async () => {
    const credentials = { email: EMAIL, password: PASSWORD }
    const first = await call('POST', '/session', credentials)
    assert.deepEqual([first.status, Object.keys(first.body.errors)], [401, ['passkey']])
    const second = await call('POST', '/session', { ...credentials, passkey: await prove() })
    assert.equal(second.status, 201, JSON.stringify(second.body))
  })

  test('one that a reset has left as a second factor signs in alone after its use with the password', async () => {
    const id = await registered()
    const { store } = service.instance
    await store.write((stores) => stores.passkeys.setNeedsPassword(id, true))
    const alone = async () => (await call('POST', '/session', { passkey: await prove() })).status
    const again = async () =>
      (await call('POST', '/session/authenticate', { passkey: await prove() })).status
    assert.deepEqual([await alone(), await again()], [401, 422])
    const credentials = { email: EMAIL, password: PASSWORD }
    const both = await call('POST', '/session', { ...credentials, passkey: await prove() })
    assert.equal(both.status, 201, JSON.stringify(both.body))
    assert.equal(await alone(), 201)
  })

  test('accepts an assertion once under concurrency', async () => {
    const passkey = await prove()
    const both = await Promise.all([
      call('POST', '/session', { passkey }),
      call('POST', '/session', { passkey }),
    ])
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 401])
    assert.equal((await call('POST', '/session', { passkey })).status, 401)
  })

  test('a copy of the authenticator is refused, whose counter is behind', async () => {
    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
    const [credential] = credentials
    assert.ok(credential && credential.signCount > 1)
    const setCount = async (signCount: number) => {
      const { credentialId } = credential
      await cdp.send('WebAuthn.removeCredential', { authenticatorId, credentialId })
      const copy = { ...credential, signCount }
      await cdp.send('WebAuthn.addCredential', { authenticatorId, credential: copy })
    }
    assert.equal((await call('POST', '/session', { passkey: await prove() })).status, 201)
    await setCount(credential.signCount - 1)
    assert.equal((await call('POST', '/session', { passkey: await prove() })).status, 401)
    await setCount(credential.signCount + 10)
    assert.equal((await call('POST', '/session', { passkey: await prove() })).status, 201)
  })

  test('an assertion is refused without its challenge, after five minutes, and when altered', async () => {
    const late = await prove()
    clock.move(5 * 60)
    assert.equal((await call('POST', '/session', { passkey: late })).status, 401)
    const other = await prove()
    await prove()
    assert.equal((await call('POST', '/session', { passkey: other })).status, 401)
    const altered = await prove()
    const { signature = '' } = altered.response
    const flipped = `${signature.slice(0, -4)}${signature.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`
    const response = { ...altered.response, signature: flipped }
    const refused = await call('POST', '/session', { passkey: { ...altered, response } })
    assert.equal(refused.status, 401)
    const lone = await prove()
    await context.clearCookies({ name: 'terse_challenge' })
    assert.equal((await call('POST', '/session', { passkey: lone })).status, 401)
  })

  test('a challenge for signing in adds no passkey, and the other way round', async () => {
    assert.equal((await call('POST', '/session', { passkey: await prove() })).status, 201)
    const { body } = await call('POST', '/session/passkey-options')
    const made = await inPage(CREATE, {
      ...body.public_key,
      rp: { id: 'localhost', name: 'Terse' },
      user: { id: 'AAAA', name: 'eve', displayName: 'Eve' },
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
    })
    const refused = await call('POST', '/me/passkeys', { name: 'Eve', registration: made })
    assert.deepEqual([refused.status, Object.keys(refused.body.errors)], [422, ['registration']])
  })

  test('an authenticator that has not verified its user is refused', async () => {
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    const passkey = await prove({ userVerification: 'discouraged' })
    assert.equal((await call('POST', '/session', { passkey })).status, 401)
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
  })

  test('the last second factor stays beside a short password, and goes beside a long one', async () => {
    assert.equal((await call('POST', '/session', { passkey: await prove() })).status, 201)
    const id = await registered()
    await call('PUT', '/me/password', { password: 'short but new' })
    const refused = await call('DELETE', `/me/passkeys/${id}`)
    assert.deepEqual([refused.status, Object.keys(refused.body.errors)], [422, ['password']])
    await call('PUT', '/me/password', { password: PASSWORD })
    assert.equal((await call('DELETE', `/me/passkeys/${id}`)).status, 200)
    assert.equal((await call('DELETE', `/me/passkeys/${id}`)).status, 404)
    assert.equal((await call('POST', '/session', { passkey: await prove() })).status, 401)
  })
})
