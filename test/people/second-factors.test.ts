import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { INSTANCE } from '../../src/storage/event-log.ts'
import { expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import {
  PASSWORD,
  type PersonClient,
  personClient,
  setUp,
  signIn,
} from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const EMAIL = 'ada@example.com'
const STEP_SECONDS = 30

for (const engine of ENGINES) {
  describe(`authenticator apps and recovery codes on ${engine.title}`, () => {
    const clock = fakeClock()
    let service: Service
    let ada: PersonClient
    /** The secret of the app that is set up. */
    let secret = ''

    before(async () => {
      service = await startService(engine, {}, { clock })
      ada = await setUp(service)
    })
    after(() => service.stop())
    // Codes of a step work once, and wrong ones of the test before must not count.
    beforeEach(() => clock.move(10 * 60))

    function codeOf(base32: string, steps = 0): string {
      const timestamp = clock.nowMicros() / 1_000 + steps * STEP_SECONDS * 1_000
      return new TOTP({ secret: Secret.fromBase32(base32) }).generate({ timestamp })
    }

    const tryCode = (code: string, client = personClient(service)) =>
      client.post('/session', { email: EMAIL, password: PASSWORD, code })

    /** Signs Ada in again, so that her session is fresh. */
    async function refresh() {
      const code = secret === '' ? undefined : codeOf(secret)
      const answer = await ada.post('/session/authenticate', { password: PASSWORD, code })
      expectStatus(answer, 200)
      clock.move(2 * STEP_SECONDS)
    }

    test('an app takes effect with its first code, and ends all other sessions', async () => {
      await refresh()
      const other = await signIn(service)
      const { body } = expectStatus(await ada.post('/me/totp'), 201)
      assert.match(body.url, /^otpauth:\/\/totp\/localhost:ada%40example\.com\?/)
      assert.equal(Secret.fromBase32(body.secret).buffer.byteLength, 20)
      expectStatus(await other.get('/me'), 200)
      expectProblem(await ada.put('/me/totp', { code: '000000' }), 'validation_failed', ['code'])
      expectStatus(await signIn(service).then((client) => client.get('/me')), 200)
      const code = codeOf(body.secret)
      expectStatus(await ada.put('/me/totp', { code }), 200)
      secret = body.secret
      expectProblem(await other.get('/me'), 'unauthorized')
      assert.equal(expectStatus(await ada.get('/me'), 200).body.has_totp, true)
      expectProblem(await ada.put('/me/totp', { code }), 'validation_failed', ['code'])
      expectProblem(await tryCode(code), 'second_factor_required', ['code'])
    })

    test('sign-in then needs a code, of this step or one beside it, once each', async () => {
      const first = await personClient(service).post('/session', {
        email: EMAIL,
        password: PASSWORD,
      })
      expectProblem(first, 'second_factor_required', ['code'])
      for (const [steps, status] of [
        [-2, 401],
        [-1, 201],
        [-1, 401],
        [1, 201],
        [0, 401],
        [1, 401],
      ] as const) {
        assert.equal((await tryCode(codeOf(secret, steps))).status, status, `${steps} steps`)
      }
    })

    test('accepts a code once under concurrency', async () => {
      const code = codeOf(secret)
      const answers = await Promise.all(Array.from({ length: 4 }, () => tryCode(code)))
      const statuses = answers.map(({ status }) => status).sort()
      assert.deepEqual(statuses, [201, 401, 401, 401])
    })

    test('wrong codes are limited, also for the right password from elsewhere', async () => {
      for (let attempt = 0; attempt < 5; attempt += 1) {
        expectProblem(await tryCode('123456'), 'second_factor_required', ['code'])
      }
      const refused = expectStatus(await tryCode(codeOf(secret)), 429)
      assert.ok(Number(refused.headers.get('retry-after')) > 0)
      clock.move(5 * 60)
      expectStatus(await tryCode(codeOf(secret)), 201)
    })

    test('recovery codes are ten, work once each and are replaced together', async () => {
      await refresh()
      const other = (await tryCode(codeOf(secret))).headers.getSetCookie()
      assert.equal(other.length, 1)
      const first = expectStatus(await ada.post('/me/recovery-codes'), 201).body.codes
      assert.equal(new Set(first).size, 10)
      assert.match(first[0], /^[2-9a-z]{4}-[2-9a-z]{4}-[2-9a-z]{4}$/)
      const typed = first[0].toUpperCase().replaceAll('-', ' ')
      const answers = await Promise.all(Array.from({ length: 3 }, () => tryCode(typed)))
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 401, 401])
      assert.equal((await ada.get('/me')).body.recovery_codes_left, 9)
      const second = expectStatus(await ada.post('/me/recovery-codes'), 201).body.codes
      clock.move(5 * 60)
      assert.equal((await tryCode(first[1])).status, 401)
      assert.equal((await tryCode(second[1])).status, 201)
    })

    test('changes need a recent authentication, with the second factor', async () => {
      const stale = await ada.post('/me/recovery-codes')
      expectProblem(stale, 'authentication_required')
      for (const request of [
        ada.post('/me/totp'),
        ada.put('/me/totp', { code: '123456' }),
        ada.delete('/me/totp'),
        ada.post('/me/passkeys/options'),
      ]) {
        expectProblem(await request, 'authentication_required')
      }
      const without = await ada.post('/session/authenticate', { password: PASSWORD })
      expectProblem(without, 'second_factor_required', ['code'])
      await refresh()
      expectStatus(await ada.post('/me/recovery-codes'), 201)
    })

    test('a new app replaces the one before only when it is confirmed', async () => {
      await refresh()
      const { body } = expectStatus(await ada.post('/me/totp'), 201)
      expectStatus(await tryCode(codeOf(secret)), 201)
      expectStatus(await ada.put('/me/totp', { code: codeOf(body.secret) }), 200)
      clock.move(2 * STEP_SECONDS)
      assert.equal((await tryCode(codeOf(secret))).status, 401)
      secret = body.secret
      expectStatus(await tryCode(codeOf(secret)), 201)
    })

    test('the last second factor stays beside a short password', async () => {
      await refresh()
      expectStatus(await ada.put('/me/password', { password: 'short but new' }), 200)
      const refused = await ada.delete('/me/totp')
      expectProblem(refused, 'validation_failed', ['password'])
      assert.match(refused.body.message, /Set a longer password first/)
      assert.equal((await ada.get('/me')).body.has_totp, true)
      expectStatus(await ada.put('/me/password', { password: PASSWORD }), 200)
      expectStatus(await ada.delete('/me/totp'), 200)
      secret = ''
      const { body } = await ada.get('/me')
      assert.deepEqual([body.has_totp, body.recovery_codes_left], [false, 0])
      expectProblem(await ada.delete('/me/totp'), 'not_found')
      expectProblem(await ada.post('/me/recovery-codes'), 'validation_failed', ['codes'])
      await signIn(service)
    })

    test('each change is an event of the instance, without secrets', async () => {
      const run = { workspaceId: INSTANCE, limit: 100, beyond: undefined }
      const { items } = await service.instance.store.read.events.run(run)
      const types = items.map(({ type }) => type)
      for (const type of [
        'totp.created',
        'totp.deleted',
        'recovery_codes.created',
        'recovery_code.used',
      ] as const) {
        assert.ok(types.includes(type), type)
      }
      const created = items.find(({ type }) => type === 'totp.created')
      assert.equal(created?.actor.kind, 'person')
      assert.deepEqual(created?.after, {})
    })
  })
}
