import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { OidcProvider } from '../../src/identity/oidc/oidc-provider.ts'
import { freePort } from '../support/free-port.ts'

const CHECKS = { state: 's'.repeat(43), nonce: 'n'.repeat(43), verifier: 'v'.repeat(43) }
const SECRET = 'the-secret-of-the-client-0123456789'
const CLIENT = { clientId: 'terse', clientSecret: SECRET, scopes: 'openid email' }
const GROUPS = { groupsClaim: 'groups', needsGroups: false }

describe('the answer of a provider', () => {
  let server: Server
  let issuer: string
  let provider: OidcProvider
  /** What the token endpoint answers next. */
  let idToken = ''
  let signing: Awaited<ReturnType<typeof generateKeyPair>>

  before(async () => {
    signing = await generateKeyPair('RS256')
    const jwk = { ...(await exportJWK(signing.publicKey)), kid: 'key', alg: 'RS256' }
    const answers: Readonly<Record<string, () => object>> = {
      '/.well-known/openid-configuration': () => ({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      }),
      '/jwks': () => ({ keys: [jwk] }),
      '/token': () => ({ access_token: 'a', token_type: 'Bearer', id_token: idToken }),
    }
    server = createServer((request, response) => {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(answers[request.url ?? '']?.() ?? {}))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    issuer = `http://localhost:${(server.address() as AddressInfo).port}`
    provider = new OidcProvider({ issuer, ...CLIENT, ...GROUPS }, 'http://localhost/callback')
  })
  after(() => server.close())

  const claims = (changes: object = {}) => {
    const now = Math.floor(Date.now() / 1_000)
    const usual = { iss: issuer, sub: 'ada', aud: 'terse', iat: now, exp: now + 60 }
    return { ...usual, nonce: CHECKS.nonce, email: 'ada@example.com', ...changes }
  }
  const sign = (payload: object, key = signing.privateKey) =>
    new SignJWT({ ...payload }).setProtectedHeader({ alg: 'RS256', kid: 'key' }).sign(key)
  const exchange = (query = `code=c&state=${CHECKS.state}`) => provider.accountOf(query, CHECKS)

  test('is accepted when all of it is right, without trust in the e-mail address', async () => {
    idToken = await sign(claims())
    const account = await exchange()
    assert.deepEqual([account.issuer, account.subject], [issuer, 'ada'])
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
      idToken = await sign(claims(changes))
      await assert.rejects(exchange(), { code: 'oidc_failed' })
    })
  }

  test('is refused when another key signed it, or none', async () => {
    const other = await generateKeyPair('RS256')
    idToken = await sign(claims(), other.privateKey)
    await assert.rejects(exchange(), { code: 'oidc_failed' })
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    idToken = `${part({ alg: 'none' })}.${part(claims())}.`
    await assert.rejects(exchange(), { code: 'oidc_failed' })
  })

  test('is refused with another state, and as an error of the provider', async () => {
    idToken = await sign(claims())
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
