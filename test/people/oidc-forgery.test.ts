import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { generateKeyPair } from 'jose'
import { OidcProvider } from '../../src/identity/oidc/provider.ts'
import {
  type CredulousProvider,
  startCredulousProvider,
} from '../support/credulous-oidc-provider.ts'
import { freePort } from '../support/free-port.ts'

const CHECKS = { state: 's'.repeat(43), nonce: 'n'.repeat(43), verifier: 'v'.repeat(43) }
const SECRET = 'the-secret-of-the-client-0123456789'
const CLIENT = { clientId: 'terse', clientSecret: SECRET, scopes: 'openid email' }
const GROUPS = { groupsClaim: 'groups', needsGroups: false }

describe('the answer of a provider', () => {
  let source: CredulousProvider
  let provider: OidcProvider

  before(async () => {
    source = await startCredulousProvider()
    const { issuer } = source
    provider = new OidcProvider({ issuer, ...CLIENT, ...GROUPS }, 'http://localhost/callback')
  })
  after(() => source.stop())

  const claims = (changes: object = {}) => {
    const now = Math.floor(Date.now() / 1_000)
    const usual = { iss: source.issuer, sub: 'ada', aud: 'terse', iat: now, exp: now + 60 }
    return { ...usual, nonce: CHECKS.nonce, email: 'ada@example.com', ...changes }
  }
  const exchange = (query = `code=c&state=${CHECKS.state}`) => provider.accountOf(query, CHECKS)

  test('is accepted when all of it is right, without trust in the e-mail address', async () => {
    source.idToken = await source.sign(claims())
    const account = await exchange()
    assert.deepEqual([account.issuer, account.subject], [source.issuer, 'ada'])
    assert.equal(account.isEmailVerified, false)
  })

  const past = Math.floor(Date.now() / 1_000) - 3_600
  for (const [what, changes] of Object.entries({
    'another nonce': { nonce: 'x'.repeat(43) },
    'no nonce': { nonce: undefined },
    'another issuer': { iss: 'https://evil.example' },
    'another audience': { aud: 'somebody-else' },
    'an expired token': { iat: past - 60, exp: past },
  })) {
    test(`is refused with ${what}`, async () => {
      source.idToken = await source.sign(claims(changes))
      await assert.rejects(exchange(), { code: 'oidc_failed' })
    })
  }

  test('is refused when it is signed with another key, or not signed', async () => {
    const other = await generateKeyPair('RS256')
    source.idToken = await source.sign(claims(), other.privateKey)
    await assert.rejects(exchange(), { code: 'oidc_failed' })
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    source.idToken = `${part({ alg: 'none' })}.${part(claims())}.`
    await assert.rejects(exchange(), { code: 'oidc_failed' })
  })

  test('is refused with another state, and as an error of the provider', async () => {
    source.idToken = await source.sign(claims())
    await assert.rejects(exchange('code=c&state=other'), { code: 'oidc_failed' })
    const denied = `error=access_denied&state=${CHECKS.state}`
    await assert.rejects(exchange(denied), { code: 'oidc_denied' })
  })

  test('is not there while the issuer is unreachable, and no fault shows the secret', async () => {
    const nowhere = `http://localhost:${await freePort()}`
    const down = new OidcProvider({ issuer: nowhere, ...CLIENT, ...GROUPS }, 'http://localhost/')
    await assert.rejects(down.authorizationUrl(CHECKS), (error) => {
      assert.equal((error as { code?: unknown }).code, 'oidc_unavailable')
      assert.ok(!JSON.stringify(error).includes(SECRET))
      return true
    })
  })
})
