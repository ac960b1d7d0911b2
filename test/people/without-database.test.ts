import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { API_MS_MAX } from '../fault/database-reach.ts'
import { expectStatus } from '../support/api.ts'
import {
  type CredulousProvider,
  startCredulousProvider,
} from '../support/credulous-oidc-provider.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { createLink } from '../support/links.ts'
import { PASSWORD, type PersonClient, personClient, setUp } from '../support/person-client.ts'
import { numberOf } from '../support/prometheus.ts'
import { type Service, startService } from '../support/service.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { visit } from '../support/visit.ts'

for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
  describe('people while PostgreSQL is down', () => {
    let service: Service
    let network: TcpProxy
    let provider: CredulousProvider
    let ada: PersonClient
    const started = new AsyncDisposableStack()
    before(async () => {
      provider = await startCredulousProvider()
      started.defer(() => provider.stop())
      const proxied = {
        ...engine,
        async createMigratedPlace() {
          const place = await engine.createMigratedPlace()
          const url = new URL(place.databaseUrl ?? '')
          network = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
          started.defer(() => network.close())
          url.port = String(network.port)
          return { ...place, env: { ...place.env, TERSE_DATABASE_URL: url.href } }
        },
      }
      service = await startService(proxied, {
        TERSE_DATABASE_TIMEOUT_SECONDS: '2',
        TERSE_SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
        TERSE_MAIL_FROM: 'terse@example.com',
        TERSE_OIDC_ISSUER: provider.issuer,
        TERSE_OIDC_CLIENT_ID: 'terse',
      })
      started.defer(() => service.stop())
      // Under load a first answer may be late, and says so; what it began is done.
      ada = await eventually(() => setUp(service))
      await createLink(await service.api(), { key: 'known' })
      await cacheLinkAfter(performance.now())
    })
    after(() => started.disposeAsync())

    /** A link that was changed just before an outage is read again, and has to be cached again before it. */
    function cacheLinkAfter(changedMs: number): Promise<void> {
      return eventually(async () => {
        const askedMs = performance.now()
        const { body } = await visit(service.port, '/metrics')
        const lagMs = (numberOf(body, 'terse_change_log_lag_seconds') ?? Number.NaN) * 1_000
        assert.ok(askedMs - lagMs > changedMs, `${lagMs} ms`)
        assert.equal((await visit(service.port, '/known')).status, 302)
      })
    }

    const code = 'A'.repeat(43)
    const password = 'a violet umbrella sings'
    const REQUESTS: readonly (readonly [path: string, body: object])[] = [
      ['/session', { email: 'ada@example.com', password: PASSWORD }],
      ['/session', { email: 'nobody@example.com', password: PASSWORD }],
      ['/setup', { code, email: 'eve@example.com', name: 'Eve', password }],
      ['/invitations/accept', { code, name: 'Eve', password }],
      ['/password-resets/complete', { code, password }],
    ]

    for (const [how, begin] of [
      ['resets connections', () => network.cut()],
      ['is silent', () => network.hold()],
    ] as const) {
      test(`they get 503 in time when it ${how}, and redirects go on`, async (t) => {
        begin()
        t.after(async () => {
          network.mend()
          const mendedMs = performance.now()
          await eventually(async () => expectStatus(await ada.get('/me'), 200))
          await cacheLinkAfter(mendedMs)
        })
        const startedMs = performance.now()
        await Promise.all(
          REQUESTS.map(async ([path, body]) => {
            const answer = expectStatus(await personClient(service).post(path, body), 503)
            assert.equal(answer.body.code, 'unavailable', path)
            assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
          }),
        )
        const tookMs = performance.now() - startedMs
        assert.ok(tookMs < API_MS_MAX, `${tookMs} ms`)

        const browser = personClient(service)
        const start = await browser.visit('/app/oidc/start')
        const { searchParams } = new URL(start.headers.get('location') ?? '')
        const now = Math.floor(Date.now() / 1_000)
        const [nonce, state] = [searchParams.get('nonce'), searchParams.get('state')]
        const claims = { iss: provider.issuer, sub: 'ada', aud: 'terse', iat: now, exp: now + 60 }
        provider.idToken = await provider.sign({ ...claims, nonce, email: 'ada@example.com' })
        const { headers } = await browser.visit(`/app/oidc/callback?code=c&state=${state}`)
        assert.equal(headers.get('location'), '/app/sign-in?error=unavailable')
        assert.equal((await visit(service.port, '/known')).status, 302)
      })
    }

    test('they get 503 for a link by mail, whether there is an account or not', async (t) => {
      network.cut()
      t.after(() => network.mend())
      await eventually(async () => {
        for (const email of ['ada@example.com', 'nobody@example.com']) {
          expectStatus(await personClient(service).post('/password-resets', { email }), 503)
        }
      })
    })
  })
}
