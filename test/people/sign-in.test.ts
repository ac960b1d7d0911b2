import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { IDLE_MICROS_MAX } from '../../src/identity/sign-in/session.ts'
import { expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import {
  PASSWORD,
  type PersonClient,
  personClient,
  setUp,
  signIn,
} from '../support/person-client.ts'
import { expectProblem, withoutId } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const MINUTE = 60
const DAY = 24 * 60 * MINUTE
const EMAIL = 'ada@example.com'

for (const engine of ENGINES) {
  describe(`sign-in on ${engine.title}`, () => {
    let service: Service
    let clock: FakeClock
    before(async () => {
      clock = fakeClock()
      service = await startService(engine, {}, { clock })
      await service.token('acme')
      await setUp(service, 'Ada@Example.com')
    })
    after(() => service.stop())

    const sessionsOf = async (client: PersonClient) => (await client.get('/sessions')).body.data

    test('answers with the session, and sets a cookie that scripts cannot read', async () => {
      const client = personClient(service)
      const answer = expectStatus(
        await client.post('/session', { email: EMAIL, password: PASSWORD }),
        201,
      )
      const [cookie = ''] = answer.headers.getSetCookie()
      assert.match(
        cookie,
        /^terse_session=[A-Za-z0-9_-]{64}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
      )
      assert.equal(answer.body.person.email, 'Ada@Example.com')
      assert.equal(answer.body.person.is_operator, true)
      const [membership] = answer.body.memberships
      assert.equal(membership.workspace_name, 'acme')
      assert.equal(membership.role, 'owner')
      const shown = expectStatus(await client.get('/session'), 200)
      assert.deepEqual(shown.body, answer.body)
    })

    test('finds the person whatever the letter case and width of the address', async () => {
      for (const email of ['ADA@EXAMPLE.COM', ' ada@example.com ', 'ａda@example.com']) {
        await signIn(service, { email })
      }
    })

    test('gives the same answer for a wrong password and an unknown person', async () => {
      const client = personClient(service)
      const wrong = await client.post('/session', { email: EMAIL, password: 'wrong' })
      const unknown = await client.post('/session', { email: 'eve@example.com', password: 'wrong' })
      expectProblem(wrong, 'unauthorized')
      assert.deepEqual(withoutId(unknown), withoutId(wrong))
      assert.equal(unknown.status, wrong.status)
      const names = ({ headers }: typeof wrong) => [...headers.keys()].sort()
      assert.deepEqual(names(unknown), names(wrong))
    })

    test('gives every sign-in a secret of its own, and accepts no secret that a client chose', async () => {
      const client = personClient(service)
      const chosen = 'A'.repeat(64)
      client.cookie = `terse_session=${chosen}`
      await client.post('/session', { email: EMAIL, password: PASSWORD })
      const first = client.cookie
      assert.notEqual(first, `terse_session=${chosen}`)
      await client.post('/session', { email: EMAIL, password: PASSWORD })
      assert.notEqual(client.cookie, first)
      const fixed = personClient(service)
      for (const cookie of [first, `terse_session=${chosen}`]) {
        fixed.cookie = cookie
        expectProblem(await fixed.get('/session'), 'unauthorized')
      }
    })

    test('refuses a session after sign-out', async () => {
      const client = await signIn(service)
      const { cookie } = client
      const answer = expectStatus(await client.delete('/session'), 200)
      assert.deepEqual(answer.body, { message: 'Signed out' })
      assert.match(answer.headers.getSetCookie()[0] ?? '', /^terse_session=; Max-Age=0;/)
      client.cookie = cookie
      expectProblem(await client.get('/session'), 'unauthorized')
    })

    test('lists sessions with their devices, and ends one or all others', async () => {
      const [one, two, three] = [
        await signIn(service),
        await signIn(service),
        await signIn(service),
      ]
      const listed = await sessionsOf(one)
      const current = listed.filter(({ is_current }: { is_current: boolean }) => is_current)
      assert.equal(current.length, 1)
      assert.equal(current[0].device, 'Firefox on Linux')
      const { id } = (await two.get('/session')).body
      expectStatus(await one.delete(`/sessions/${id}`), 200)
      expectProblem(await two.get('/session'), 'unauthorized')
      expectProblem(await one.delete(`/sessions/${id}`), 'not_found')
      expectStatus(await one.delete('/sessions'), 200)
      expectProblem(await three.get('/session'), 'unauthorized')
      assert.equal((await sessionsOf(one)).length, 1)
    })

    test('asks again who it is after ten minutes, and gives the session a new secret', async () => {
      const client = await signIn(service)
      const change = () => client.put('/me/password', { password: PASSWORD })
      clock.move(10 * MINUTE)
      expectProblem(await change(), 'authentication_required')
      const stale = client.cookie
      const wrong = await client.post('/session/authenticate', { password: 'wrong' })
      expectProblem(wrong, 'validation_failed', ['password'])
      expectProblem(await change(), 'authentication_required')
      expectStatus(await client.post('/session/authenticate', { password: PASSWORD }), 200)
      assert.notEqual(client.cookie, stale)
      expectStatus(await change(), 200)
      const old = personClient(service)
      old.cookie = stale
      expectProblem(await old.get('/session'), 'unauthorized')
    })

    test('ends all other sessions when the password changes, and refuses the old one', async () => {
      const [here, there] = [await signIn(service), await signIn(service)]
      const password = 'a violet umbrella sings'
      expectStatus(await here.put('/me/password', { password }), 200)
      expectStatus(await here.get('/session'), 200)
      expectProblem(await there.get('/session'), 'unauthorized')
      const again = { email: EMAIL, password: PASSWORD }
      expectProblem(await personClient(service).post('/session', again), 'unauthorized')
      expectStatus(await here.put('/me/password', { password: PASSWORD }), 200)
    })

    test('refuses short and common passwords', async () => {
      const client = await signIn(service)
      for (const password of [
        'too short',
        'passwordpassword',
        'q1w2e3r4t5y6u7i8',
        'aaaaaaaaaaaaaaaa',
      ]) {
        const answer = await client.put('/me/password', { password })
        expectProblem(answer, 'validation_failed', ['password'])
      }
    })

    test('shows the account, and changes the name', async () => {
      const client = await signIn(service)
      const { body } = expectStatus(await client.get('/me'), 200)
      assert.equal(body.has_password, true)
      assert.equal(body.has_totp, false)
      expectStatus(await client.patch('/me', { name: 'Countess Lovelace' }), 200)
      assert.equal((await client.get('/session')).body.person.name, 'Countess Lovelace')
      assert.equal((await client.patch('/me', {})).body.name, 'Countess Lovelace')
    })

    test('records the last use to the minute, and ends a session that is not used for a week', async () => {
      const [used, idle] = [await signIn(service), await signIn(service)]
      const { id } = (await used.get('/session')).body
      const lastUse = async () =>
        (
          await service.instance.store.read.sessions.listOfPerson((await used.get('/me')).body.id)
        ).find((session) => session.id === id)?.last_seen_at
      clock.move(6 * DAY)
      await used.get('/session')
      const seen = clock.nowMicros()
      await eventually(async () => assert.equal(await lastUse(), seen))
      clock.move(IDLE_MICROS_MAX / 1_000_000 - 6 * DAY)
      expectStatus(await used.get('/session'), 200)
      expectProblem(await idle.get('/session'), 'unauthorized')
    })

    test('ends a session 30 days after the sign-in, however often it is used', async () => {
      const client = await signIn(service)
      for (let day = 0; day < 30; day += 5) {
        expectStatus(await client.get('/session'), 200)
        clock.move(5 * DAY)
      }
      expectProblem(await client.get('/session'), 'unauthorized')
    })
  })
}
