import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { expectStatus, untilServed } from '../support/api.ts'
import { PATIENCE_MS, type Place, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import {
  CLIENT_SECRET,
  type OidcProviderProcess,
  startOidcProvider,
} from '../support/oidc-provider.ts'
import { PASSWORD, personClient } from '../support/person-client.ts'
import { runCommand } from '../support/run-command.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'

const EMAIL = 'ada@example.com'
const SMTP_PASSWORD = 'smtp-password-4711'

describe('the log at trace', () => {
  let place: Place
  let service: ServiceProcess
  let provider: OidcProviderProcess
  let base: { baseUrl: string }
  const started = new AsyncDisposableStack()
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    started.defer(() => place.remove())
    const port = await freePort()
    provider = await startOidcProvider(`http://localhost:${port}/app/oidc/callback`)
    started.defer(() => provider.stop())
    service = await startProcess(place, {
      TERSE_PORT: String(port),
      TERSE_LOG_LEVEL: 'trace',
      TERSE_DATABASE_TIMEOUT_SECONDS: String(PATIENCE_MS / 1_000),
      TERSE_OIDC_ISSUER: provider.issuer,
      TERSE_OIDC_CLIENT_ID: 'terse',
      TERSE_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      // Nothing listens there: the failure is logged.
      TERSE_SMTP_URL: `smtp://terse:${SMTP_PASSWORD}@127.0.0.1:${await freePort()}`,
      TERSE_MAIL_FROM: 'terse@example.com',
    })
    started.defer(() => service.stop().then(() => undefined))
    base = { baseUrl: `http://127.0.0.1:${port}` }
  })
  after(() => started.disposeAsync())

  const codeIn = (text: string) => /#code=([\w-]{43})/.exec(text)?.[1] ?? ''

  test('has no secret of second factors, single sign-on, mail or one-time links', async () => {
    const secrets: string[] = [CLIENT_SECRET, SMTP_PASSWORD]
    const keep = (secret: string) => {
      assert.ok(secret.length >= 6, secret)
      secrets.push(secret)
      return secret
    }
    const ada = personClient(base)
    const code = codeIn(service.output().stdout)
    const person = { code: keep(code), email: EMAIL, name: 'Ada', password: PASSWORD }
    const { body: session } = expectStatus(await untilServed(() => ada.post('/setup', person)), 201)
    ada.workspaceId = session.memberships[0].workspace_id

    const invited = await ada.post('/invitations', { email: 'bob@example.com', role: 'viewer' })
    const invitation = keep(codeIn(expectStatus(invited, 201).body.url))
    await personClient(base).post('/invitations/look-up', { code: invitation })
    const bob = personClient(base)
    // Where mail is sent, a link of the command line makes an account without one.
    const workspace = session.memberships[0].workspace_name
    const handed = await runCommand(
      ['person', 'invite', 'bob@example.com', '--workspace', workspace],
      place.env,
    )
    const handedCode = keep(codeIn(handed.stdout))
    const accepted = { code: handedCode, name: 'Bob', password: 'a violet umbrella sings' }
    const { body: joined } = expectStatus(
      await untilServed(() => bob.post('/invitations/accept', accepted)),
      201,
    )
    const reset = await ada.post(`/members/${joined.person.id}/password-reset`)
    const resetCode = keep(codeIn(expectStatus(reset, 201).body.url))
    const changed = { code: resetCode, password: keep('a purple umbrella hums') }
    for (const status of [200, 422]) {
      const answer = await untilServed(() =>
        personClient(base).post('/password-resets/complete', changed),
      )
      expectStatus(answer, status)
    }
    await personClient(base).post('/password-resets', { email: EMAIL })

    const linking = expectStatus(await ada.post('/me/identities', {}), 200).body.url
    const begun = new URL(linking).searchParams
    for (const name of ['state', 'nonce', 'code_challenge']) keep(begun.get(name) ?? '')
    const callback = new URL(await provider.signIn(linking, 'ada'))
    keep(callback.searchParams.get('code') ?? '')
    for (let visits = 0; visits < 2; visits += 1) {
      assert.equal((await ada.visit(`${callback.pathname}${callback.search}`)).status, 302)
    }

    const { body: setup } = expectStatus(await ada.post('/me/totp'), 201)
    const totp = new TOTP({ secret: Secret.fromBase32(keep(setup.secret)) })
    const first = { code: keep(totp.generate()) }
    await ada.put('/me/totp', { code: keep('wrong-code-4711') })
    expectStatus(await ada.put('/me/totp', first), 200)
    const { body: recovery } = expectStatus(await ada.post('/me/recovery-codes'), 201)
    recovery.codes.forEach(keep)
    const later = keep(totp.generate({ timestamp: Date.now() + 30_000 }))
    for (const code of [keep('wrong-code-4712'), later, recovery.codes[0], recovery.codes[0]]) {
      await personClient(base).post('/session', { email: EMAIL, password: PASSWORD, code })
    }

    const browser = personClient(base)
    const options = expectStatus(await browser.post('/session/passkey-options'), 200)
    const challenge = keep(options.body.public_key.challenge)
    const clientData = { type: 'webauthn.get', challenge, origin: base.baseUrl }
    const text = (value: string) => Buffer.from(value).toString('base64url')
    const response = {
      clientDataJSON: keep(text(JSON.stringify(clientData))),
      authenticatorData: text('x'.repeat(40)),
      signature: keep(text('signature-of-nobody')),
    }
    const passkey = { id: text('id'), rawId: text('id'), type: 'public-key', response }
    expectStatus(await browser.post('/session', { passkey }), 401)
    for (const cookie of [ada.cookie, bob.cookie, browser.cookie]) {
      for (const pair of cookie.split('; ')) keep(pair.split('=')[1] ?? '')
    }

    await eventually(async () => assert.match(service.output().stderr, /mail deferred/))
    const { stderr } = service.output()
    assert.match(stderr, /oidc_expired/)
    for (const secret of new Set(secrets)) {
      // Six digits alone may be part of a number or of an id.
      const isThere = /^\d{6}$/.test(secret)
        ? new RegExp(`(?<![\\w.-])${secret}(?![\\w-])`).test(stderr)
        : stderr.includes(secret)
      assert.ok(!isThere, secret)
    }
  })
})
