import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type CredulousProvider,
  startCredulousProvider,
} from '../support/credulous-oidc-provider.ts'
import { ENGINES } from '../support/engines.ts'
import { personClient } from '../support/person-client.ts'
import { type Service, startService } from '../support/service.ts'

for (const engine of ENGINES) {
  describe(`a callback that the provider accepts again on ${engine.title}`, () => {
    let provider: CredulousProvider
    let service: Service
    const started = new AsyncDisposableStack()
    before(async () => {
      provider = await startCredulousProvider()
      started.defer(() => provider.stop())
      service = await startService(engine, {
        TERSE_OIDC_ISSUER: provider.issuer,
        TERSE_OIDC_CLIENT_ID: 'terse',
        TERSE_OWNER_EMAIL: 'ada@example.com',
      })
      started.defer(() => service.stop())
    })
    after(() => started.disposeAsync())

    /** Begins a sign-in, which the provider answers with a valid token. */
    async function begin() {
      const client = personClient(service)
      const location = (await client.visit('/app/oidc/start')).headers.get('location') ?? ''
      const { searchParams } = new URL(location)
      const now = Math.floor(Date.now() / 1_000)
      provider.idToken = await provider.sign({
        iss: provider.issuer,
        sub: 'ada',
        aud: 'terse',
        iat: now,
        exp: now + 600,
        nonce: searchParams.get('nonce'),
        email: 'ada@example.com',
        email_verified: true,
      })
      const callback = `/app/oidc/callback?code=c&state=${searchParams.get('state')}`
      const visit = async (cookie = client.cookie) => {
        client.cookie = cookie
        const { headers } = await client.visit(callback)
        return headers.get('location')
      }
      return { cookie: client.cookie, visit }
    }

    test('signs in once, with the same cookie and code', async () => {
      const { cookie, visit } = await begin()
      assert.equal(await visit(), '/app/')
      assert.equal(await visit(cookie), '/app/sign-in?error=oidc_expired')
    })

    test('signs in once under concurrency', async () => {
      const { cookie, visit } = await begin()
      const arrived = await Promise.all([visit(cookie), visit(cookie)])
      assert.deepEqual(arrived.toSorted(), ['/app/', '/app/sign-in?error=oidc_expired'])
    })
  })
}
