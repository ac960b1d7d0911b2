import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { commandLine } from '../../src/identity/actor.ts'
import { INSTANCE } from '../../src/storage/event-log.ts'
import { expectStatus } from '../support/api.ts'
import { ENGINES, type Engine } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { type Mailbox, type Received, startMailbox } from '../support/mailbox.ts'
import {
  PASSWORD,
  type PersonClient,
  personClient,
  setUp,
  signIn,
} from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const OLD = 'ada@example.com'
const NEW = 'ada@lovelace.example'
const CODE = /\/app\/settings\/profile#code=([A-Za-z0-9_-]{43})/
const HOUR_SECONDS = 60 * 60

/** A service whose first person is Ada, with a second person who may do nothing. */
async function startWithPeople(engine: Engine, settings: Record<string, string> = {}) {
  const clock = fakeClock(Date.now())
  const service = await startService(engine, settings, { clock })
  await service.token('acme')
  const ada = await setUp(service)
  ada.workspaceId = (await service.instance.workspaces.get('acme')).id
  const { id } = expectStatus(await ada.get('/me'), 200).body
  const prove = (instant: number | null) =>
    service.instance.store.write(({ people }) => people.update(id, { email_proved_at: instant }))
  return { clock, service, ada, prove }
}

async function addBob(service: Service, ada: PersonClient): Promise<PersonClient> {
  const { openPeople } = await import('../../src/app/composition/services.ts')
  const { invitations } = openPeople(service.instance)
  const invited = { email: 'bob@example.com', role: 'viewer' } as const
  const { code } = await invitations.create(commandLine(ada.workspaceId ?? ''), invited)
  const bob = personClient(service)
  const account = { code, name: 'Bob', password: PASSWORD }
  expectStatus(await bob.post('/invitations/accept', account), 201)
  return bob
}

const meOf = async (client: PersonClient) => expectStatus(await client.get('/me'), 200).body
const confirm = (client: PersonClient, code: string) => client.post('/me/email/confirm', { code })

for (const engine of ENGINES) {
  describe(`the own address, with mail on ${engine.title}`, () => {
    const started = new AsyncDisposableStack()
    let mailbox: Mailbox
    let at: Awaited<ReturnType<typeof startWithPeople>>
    let bob: PersonClient
    before(async () => {
      mailbox = await startMailbox()
      started.defer(() => mailbox.stop())
      const settings = { TERSE_SMTP_URL: mailbox.url, TERSE_MAIL_FROM: 'Terse <terse@example.com>' }
      at = await startWithPeople(engine, settings)
      started.defer(() => at.service.stop())
      bob = await addBob(at.service, at.ada)
    })
    after(() => started.disposeAsync())

    /** The next message to an address that arrives after `work` has begun. */
    async function nextMail(to: string, work: () => Promise<unknown>): Promise<Received> {
      const count = mailbox.received.length
      await work()
      return eventually(async () => {
        const mail = mailbox.received.slice(count).find((one) => one.to.includes(to))
        assert.ok(mail)
        return mail
      })
    }

    async function mailedCode(email: string): Promise<string> {
      const mail = await nextMail(email, async () => {
        const answer = expectStatus(await at.ada.post('/me/email', { email }), 200)
        assert.deepEqual(answer.body, { status: 'mailed' })
      })
      assert.doesNotMatch(mail.text, /Ada Lovelace/, 'the reader may be anybody')
      return CODE.exec(mail.text)?.[1] ?? ''
    }

    test('changes with the code that went to it, ends all other sessions, and tells the former', async () => {
      const { ada, service, prove } = at
      await prove(1)
      const other = await signIn(service)
      const code = await mailedCode(NEW)
      assert.equal((await meOf(ada)).email, OLD, 'nothing has changed yet')
      expectProblem(await confirm(bob, code), 'validation_failed', ['code'])
      const notice = await nextMail(OLD, async () => expectStatus(await confirm(ada, code), 200))
      assert.match(notice.text, /Your address for localhost was changed/)
      const me = await meOf(ada)
      assert.equal(me.email, NEW)
      assert.equal(me.is_email_proved, true)
      expectProblem(await other.get('/me'), 'unauthorized')
      expectProblem(await confirm(ada, code), 'validation_failed', ['code'])
      const old = await personClient(service).post('/session', { email: OLD, password: PASSWORD })
      expectProblem(old, 'unauthorized')
      await signIn(service, { email: NEW })
      const { items } = await service.instance.store.read.events.run({
        ...{ workspaceId: INSTANCE, limit: 1, beyond: undefined, subjectId: me.id },
      })
      assert.equal(items[0]?.type, 'person.updated')
      assert.deepEqual([items[0]?.before, items[0]?.after], [{ email: OLD }, { email: NEW }])
    })

    test('leaves the address of an unproved person unproved', async () => {
      await at.prove(null)
      at.clock.move(HOUR_SECONDS)
      await authenticate()
      expectStatus(await confirm(at.ada, await mailedCode(OLD)), 200)
      const me = await meOf(at.ada)
      assert.deepEqual([me.email, me.is_email_proved], [OLD, false])
    })

    test('says only to who reads its mail that an address has an account', async () => {
      at.clock.move(HOUR_SECONDS)
      await authenticate()
      const code = await mailedCode('bob@example.com')
      expectProblem(await confirm(at.ada, code), 'validation_failed', ['code'])
      assert.equal((await meOf(at.ada)).email, OLD)
    })

    test('takes the last code alone, within an hour, and mails three an hour', async () => {
      at.clock.move(HOUR_SECONDS)
      await authenticate()
      const first = await mailedCode('one@example.com')
      const second = await mailedCode('two@example.com')
      expectProblem(await confirm(at.ada, first), 'validation_failed', ['code'])
      await mailedCode('three@example.com')
      const refused = await at.ada.post('/me/email', { email: 'four@example.com' })
      expectProblem(refused, 'rate_limited')
      at.clock.move(HOUR_SECONDS)
      expectProblem(await confirm(at.ada, second), 'validation_failed', ['code'])
    })

    test('needs a recent authentication, and an address', async () => {
      at.clock.move(HOUR_SECONDS)
      const stale = await at.ada.post('/me/email', { email: NEW })
      expectProblem(stale, 'authentication_required')
      await authenticate()
      const wrong = await at.ada.post('/me/email', { email: 'nobody' })
      expectProblem(wrong, 'validation_failed', ['email'])
    })

    async function authenticate(): Promise<void> {
      expectStatus(await at.ada.post('/session/authenticate', { password: PASSWORD }), 200)
    }
  })

  describe(`the own address, without mail on ${engine.title}`, () => {
    let at: Awaited<ReturnType<typeof startWithPeople>>
    before(async () => {
      at = await startWithPeople(engine)
      await addBob(at.service, at.ada)
    })
    after(() => at.service.stop())

    test('changes at once, is unproved, and is refused where it has an account', async () => {
      const { ada, service, prove } = at
      await prove(1)
      const taken = await ada.post('/me/email', { email: 'BOB@example.com' })
      expectProblem(taken, 'validation_failed', ['email'])
      const spelled = expectStatus(await ada.post('/me/email', { email: 'Ada@Example.com' }), 200)
      assert.deepEqual(spelled.body, { status: 'changed' })
      assert.equal((await meOf(ada)).is_email_proved, true, 'it is the same address')
      expectStatus(await ada.post('/me/email', { email: NEW }), 200)
      const me = await meOf(ada)
      assert.deepEqual([me.email, me.is_email_proved], [NEW, false])
      await signIn(service, { email: NEW })
    })

    test('is forgotten with the person, also the one before', async () => {
      const { service } = at
      const { openPeople } = await import('../../src/app/composition/services.ts')
      const { accounts } = openPeople(service.instance)
      const { id } = await accounts.getByEmail('bob@example.com')
      await accounts.changeEmail(commandLine(INSTANCE), id, 'bob@builder.example')
      await accounts.delete(commandLine(INSTANCE), id)
      const forgotten = await service.instance.store.read.erasures.listPeople()
      assert.deepEqual(forgotten.map(({ email_folded }) => email_folded).sort(), [
        'bob@builder.example',
        'bob@example.com',
      ])
    })
  })
}
