import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import pg from 'pg'
import { openPeople } from '../../src/app/composition/services.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { changeFactors } from '../../src/identity/second-factors/own-factors.ts'
import { sessionChange } from '../../src/storage/changes.ts'
import { INSTANCE } from '../../src/storage/event-log.ts'
import { newIdentity, newPasskey } from '../storage/samples.ts'
import { type Answer, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { freePort } from '../support/free-port.ts'
import { type Mailbox, startMailbox } from '../support/mailbox.ts'
import {
  CLIENT_SECRET,
  type OidcProviderProcess,
  startOidcProvider,
} from '../support/oidc-provider.ts'
import {
  PASSWORD,
  type PersonClient,
  personClient,
  setUp,
  signIn,
} from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const NEW_PASSWORD = 'another horse battery staple'
const CODE = /#code=3?D?([A-Za-z0-9_-]{43})/
const HOUR = 60 * 60

for (const engine of ENGINES) {
  describe(`proof of addresses on ${engine.title}`, () => {
    const clock = fakeClock(Date.now())
    /** Ends what runs, also after a start that failed: otherwise this process would not end. */
    const started = new AsyncDisposableStack()
    let mailbox: Mailbox
    let provider: OidcProviderProcess
    let service: Service
    let owner: PersonClient
    let acme: string
    let other: string

    before(async () => {
      mailbox = await startMailbox()
      started.defer(() => mailbox.stop())
      const port = await freePort()
      const baseUrl = `http://localhost:${port}`
      provider = await startOidcProvider(`${baseUrl}/app/oidc/callback`)
      started.defer(() => provider.stop())
      const settings = {
        TERSE_PORT: String(port),
        TERSE_BASE_URL: baseUrl,
        TERSE_SMTP_URL: mailbox.url,
        TERSE_MAIL_FROM: 'Terse <terse@example.com>',
        TERSE_OIDC_ISSUER: provider.issuer,
        TERSE_OIDC_CLIENT_ID: 'terse',
        TERSE_OIDC_CLIENT_SECRET: CLIENT_SECRET,
        TERSE_OIDC_ROLES: 'editors=mapped:member',
      }
      service = await startService(engine, settings, { clock })
      started.defer(() => service.stop())
      await service.token('acme')
      owner = await setUp(service)
      acme = (await owner.get('/session')).body.memberships[0].workspace_id
      owner.workspaceId = acme
      other = expectStatus(await owner.post('/workspaces', { name: 'other' }), 201).body.id
    })
    after(() => started.disposeAsync())
    beforeEach(() => clock.move(HOUR + 60))

    const codeIn = ({ body }: Answer): string => new URL(body.url).hash.replace('#code=', '')

    /** The code in the next message that `work` causes. */
    async function mailedCode(work: () => Promise<unknown>): Promise<string> {
      const count = mailbox.received.length
      await work()
      const mail = await eventually(async () => {
        const next = mailbox.received[count]
        assert.ok(next)
        return next
      })
      return CODE.exec(mail.text)?.[1] ?? ''
    }

    /** Invites an address; returns the code that the inviter sees, and the mailed one. */
    async function invite(email: string, workspaceId = acme) {
      let shown = ''
      const mailed = await mailedCode(async () => {
        const header = { 'terse-workspace': workspaceId }
        const answer = await owner.post('/invitations', { email, role: 'viewer' }, header)
        shown = codeIn(expectStatus(answer, 201))
      })
      return { shown, mailed }
    }

    const resetLinks = () => openPeople(service.instance).resetLinks

    const someone = () => `${randomUUID()}@example.com`

    /** A person whom an admin has made with the code that they saw, while the instance sent no mail. */
    async function prepare(email = someone()) {
      const { mailed } = await invite(email)
      const client = personClient(service)
      const given = { code: mailed, name: 'P', password: PASSWORD }
      const { body } = expectStatus(await client.post('/invitations/accept', given), 201)
      const id: string = body.person.id
      await service.instance.store.write(async (stores) => {
        await stores.people.update(id, { email_proved_at: null })
        await stores.changes.append(sessionChange(id), clock.nowMicros())
      })
      // Another process may answer until it has read the change.
      await eventually(async () => assert.equal((await meOf(client)).is_email_proved, false))
      return Object.assign(client, { id, email })
    }

    /** What an intruder may leave in an account. Returns the account with the provider. */
    async function leaveWaysIn(personId: string) {
      const identity = newIdentity(personId)
      const passkey = newPasskey(personId)
      await service.instance.store.write(async (stores) => {
        await stores.passkeys.insert(passkey)
        await stores.identities.insert(identity)
        await stores.totp.setPending(personId, 'sealed')
        await stores.totp.confirm(personId, { sealedSecret: 'sealed', step: 1, atMicros: 1 })
        await stores.recoveryCodes.replace(personId, ['hash'])
      })
      return { identity, passkey }
    }

    const meOf = async (client: PersonClient) => expectStatus(await client.get('/me'), 200).body

    async function waysIn(client: PersonClient) {
      const me = await meOf(client)
      const { has_password, has_totp, passkeys, recovery_codes_left, identities } = me
      return [has_password, has_totp, passkeys, recovery_codes_left, identities.length]
    }

    const forgot = (email: string) =>
      mailedCode(() => personClient(service).post('/password-resets', { email }))
    const lookUp = (code: string) =>
      personClient(service).post('/password-resets/look-up', { code })
    const reset = (code: string, kept: object = {}) =>
      personClient(service).post('/password-resets/complete', {
        ...{ code, password: NEW_PASSWORD },
        ...kept,
      })

    async function visit(client: PersonClient, target: string): Promise<string> {
      const { pathname, search } = new URL(target, service.baseUrl)
      return (await client.visit(`${pathname}${search}`)).headers.get('location') ?? ''
    }

    async function signOn(account: string, client = personClient(service)) {
      const callback = await provider.signIn(await visit(client, '/app/oidc/start'), account)
      return { client, arrived: await visit(client, callback) }
    }

    async function acceptWith(account: string, invitation: string) {
      const client = personClient(service)
      const { body } = expectStatus(await client.post('/session/oidc', { invitation }), 200)
      return { client, arrived: await visit(client, await provider.signIn(body.url, account)) }
    }

    async function link(client: PersonClient, account: string): Promise<string> {
      const { body } = expectStatus(await client.post('/me/identities', {}), 200)
      return visit(client, await provider.signIn(body.url, account))
    }

    test('the code that an admin sees proves nothing, and the mailed one does', async () => {
      assert.equal((await meOf(await prepare())).is_email_proved, false)
      const email = someone()
      const { shown, mailed } = await invite(email)
      assert.notEqual(shown, mailed)
      const client = personClient(service)
      const given = { code: mailed, name: 'P', password: PASSWORD }
      const { body } = expectStatus(await client.post('/invitations/accept', given), 201)
      assert.equal(body.person.is_email_proved, true)
      assert.deepEqual(await waysIn(client), [true, false, 0, 0, 0])
      const again = await personClient(service).post('/invitations/accept', {
        ...given,
        code: shown,
      })
      expectProblem(again, 'validation_failed', ['code'])
    })

    test('the first mailed code ends everything that was prepared for its owner', async () => {
      const victim = await prepare()
      assert.equal(await link(victim, 'mallory'), '/app/')
      await leaveWaysIn(victim.id)
      const code = await forgot(victim.email)
      const { body: details } = expectStatus(await lookUp(code), 200)
      assert.equal(details.may_keep, false)
      assert.deepEqual([details.passkeys.length, details.identities.length], [1, 2])
      const kept = {
        keep_passkeys: details.passkeys.map(({ id }: { id: string }) => id),
        keep_identities: details.identities.map(({ id }: { id: string }) => id),
      }
      expectStatus(await reset(code, kept), 200)
      expectProblem(await victim.get('/me'), 'unauthorized')
      assert.equal((await signOn('mallory')).arrived, '/app/sign-in?error=oidc_unknown')
      const own = await signIn(service, { email: victim.email, password: NEW_PASSWORD })
      assert.deepEqual(await waysIn(own), [true, false, 0, 0, 0])
      assert.equal((await meOf(own)).is_email_proved, true)
      const { items } = await service.instance.store.read.events.run({
        ...{ workspaceId: INSTANCE, limit: 9, beyond: undefined, subjectId: victim.id },
      })
      const types = items.map(({ type }) => type)
      for (const type of ['identity.deleted', 'totp.deleted', 'person.updated'] as const) {
        assert.ok(types.includes(type), types.join())
      }
    })

    test('an unproved person who joins another workspace keeps no way in but a new password', async () => {
      const victim = await prepare()
      const intruder = await signIn(service, { email: victim.email })
      const handedOver = await resetLinks().create(commandLine(INSTANCE), victim.id)
      const { shown } = await invite(victim.email, other)
      const accept = (body: object) => victim.post('/invitations/accept', { code: shown, ...body })
      expectProblem(await accept({}), 'validation_failed', ['password'])
      clock.move(20 * 60)
      expectProblem(await accept({ password: NEW_PASSWORD }), 'authentication_required')
      expectStatus(await intruder.get('/me'), 200)
      expectStatus(await victim.post('/session/authenticate', { password: PASSWORD }), 200)
      await leaveWaysIn(victim.id)
      const { body } = expectStatus(await accept({ password: NEW_PASSWORD }), 201)
      assert.equal(body.memberships.length, 2)
      assert.equal(body.person.is_email_proved, false)
      assert.deepEqual(await waysIn(victim), [true, false, 0, 0, 0])
      expectProblem(await intruder.get('/me'), 'unauthorized')
      const old = { email: victim.email, password: PASSWORD }
      expectProblem(await personClient(service).post('/session', old), 'unauthorized')
      expectProblem(await reset(handedOver.code), 'validation_failed', ['code'])
    })

    test('a signed-in person proves the address with the mailed invitation, in a new session', async () => {
      const victim = await prepare()
      const before = victim.cookie
      await leaveWaysIn(victim.id)
      const { mailed } = await invite(victim.email, other)
      const given = { code: mailed, password: NEW_PASSWORD }
      const { body } = expectStatus(await victim.post('/invitations/accept', given), 201)
      assert.equal(body.person.is_email_proved, true)
      assert.deepEqual(await waysIn(victim), [true, false, 0, 0, 0])
      const planted = personClient(service)
      planted.cookie = before
      expectProblem(await planted.get('/me'), 'unauthorized')
    })

    test('a proved person keeps everything when they join, and sends no password', async () => {
      const email = someone()
      const { mailed } = await invite(email)
      const client = personClient(service)
      const given = { code: mailed, name: 'P', password: PASSWORD }
      const { body } = expectStatus(await client.post('/invitations/accept', given), 201)
      await leaveWaysIn(body.person.id)
      const { shown } = await invite(email, other)
      const refused = await client.post('/invitations/accept', {
        ...{ code: shown, password: NEW_PASSWORD },
      })
      expectProblem(refused, 'validation_failed', ['password'])
      expectStatus(await client.post('/invitations/accept', { code: shown }), 201)
      assert.deepEqual(await waysIn(client), [true, true, 1, 1, 1])
    })

    test('the provider proves the address that it has verified, and no other', async () => {
      const arrivalOf = async (email: string, account: string) => {
        const { shown } = await invite(email)
        const { client, arrived } = await acceptWith(account, shown)
        if (arrived === '/app/') assert.equal((await meOf(client)).is_email_proved, true)
        return arrived
      }
      assert.equal(await arrivalOf('Proved-One@example.com', 'proved-one'), '/app/')
      const refused = '/app/sign-in?error=oidc_mailed_link'
      assert.equal(await arrivalOf('somebody-else@example.com', 'another'), refused)
      assert.equal(await arrivalOf('unverified-one@example.com', 'unverified-one'), refused)
    })

    test('the provider’s word ends what was there before, the linking session included', async () => {
      const victim = await prepare('linked-one@example.com')
      const before = victim.cookie
      await leaveWaysIn(victim.id)
      assert.equal(await link(victim, 'linked-one'), '/app/')
      assert.equal((await meOf(victim)).is_email_proved, true)
      assert.deepEqual(await waysIn(victim), [false, false, 0, 0, 1])
      const planted = personClient(service)
      planted.cookie = before
      expectProblem(await planted.get('/me'), 'unauthorized')
      assert.equal((await signOn('linked-one')).arrived, '/app/')
    })

    test('an unproved person who joins by groups keeps the account in use alone', async () => {
      await service.instance.workspaces.ensure(commandLine, 'mapped')
      const victim = await prepare()
      assert.equal(await link(victim, 'grouped'), '/app/')
      await leaveWaysIn(victim.id)
      await provider.setGroups({ grouped: ['editors'] })
      const { client } = await signOn('grouped')
      assert.deepEqual(await waysIn(client), [false, false, 0, 0, 1])
      expectProblem(await victim.get('/me'), 'unauthorized')
      assert.equal((await meOf(client)).is_email_proved, false)
    })

    /** A person with a proved address. */
    async function proved() {
      const email = someone()
      const { mailed } = await invite(email)
      const client = personClient(service)
      const given = { code: mailed, name: 'P', password: PASSWORD }
      const { body } = expectStatus(await client.post('/invitations/accept', given), 201)
      return { id: body.person.id as string, email }
    }

    const left = async (personId: string) => {
      const { passkeys, identities } = service.instance.store.read
      return {
        passkeys: (await passkeys.list(personId)).map(({ id }) => id),
        subjects: (await identities.list(personId)).map(({ subject }) => subject),
      }
    }

    test('a reset removes the passkeys and accounts that the person does not confirm', async () => {
      const { id, email } = await proved()
      const { passkey, identity } = await leaveWaysIn(id)
      const foreign = { passkey: newPasskey(id), identity: newIdentity(id) }
      await service.instance.store.write(async (stores) => {
        await stores.passkeys.insert(foreign.passkey)
        await stores.identities.insert(foreign.identity)
      })
      const code = await forgot(email)
      const { body: details } = expectStatus(await lookUp(code), 200)
      assert.equal(details.may_keep, true)
      assert.equal(details.passkeys.length, 2)
      const own = details.identities.find(
        ({ issuer }: { issuer: string }) => issuer === identity.issuer,
      )
      const kept = { keep_passkeys: [passkey.id], keep_identities: [own.id] }
      expectStatus(await reset(code, kept), 200)
      assert.deepEqual(await left(id), { passkeys: [passkey.id], subjects: [identity.subject] })
      expectStatus(await reset(await forgot(email)), 200)
      assert.deepEqual(await left(id), { passkeys: [], subjects: [] })
      const { totp } = service.instance.store.read
      assert.equal((await totp.find(id))?.sealed_secret, 'sealed', 'a second factor stays')
    })

    test('a passkey that is the only second factor stays one, until an operator’s link', async () => {
      const { id, email } = await proved()
      const passkey = newPasskey(id)
      await service.instance.store.write((stores) => stores.passkeys.insert(passkey))
      expectStatus(await reset(await forgot(email)), 200)
      const [stored] = await service.instance.store.read.passkeys.list(id)
      assert.equal(stored?.needs_password, true)
      const given = { email, password: NEW_PASSWORD }
      expectProblem(await personClient(service).post('/session', given), 'second_factor_required', [
        'passkey',
      ])
      const byOperator = await resetLinks().create(commandLine(INSTANCE), id)
      expectStatus(await reset(byOperator.code), 200)
      assert.deepEqual((await left(id)).passkeys, [])
      await signIn(service, { email, password: NEW_PASSWORD })
    })

    const rises: Record<string, (id: string) => Promise<Answer>> = {
      'a higher role': (id) => owner.patch(`/members/${id}`, { role: 'owner' }),
      'the role of an operator': (id) => owner.patch(`/people/${id}`, { is_operator: true }),
    }
    for (const [what, rise] of Object.entries(rises)) {
      test(`a person who prepared another's account does not gain ${what}, but a proved person keeps access`, async () => {
        for (const isProved of [false, true]) {
          const person = await prepare()
          await leaveWaysIn(person.id)
          const { store } = service.instance
          if (isProved) {
            await store.write((stores) => stores.people.update(person.id, { email_proved_at: 1 }))
          }
          expectStatus(await owner.post('/session/authenticate', { password: PASSWORD }), 200)
          expectStatus(await rise(person.id), 200)
          const { passkeys, subjects } = await left(person.id)
          const count = isProved ? 1 : 0
          assert.deepEqual([passkeys.length, subjects.length], [count, count])
          const me = await person.get('/me')
          assert.equal(me.status, isProved ? 200 : 401)
          const { body } = await owner.get('/members')
          const shown = body.data.find(({ id }: { id: string }) => id === person.id)
          assert.equal(shown.is_email_proved, isProved)
        }
      })
    }

    test('an ended session changes no way in', async () => {
      const { id } = await prepare()
      const { store } = service.instance
      const person = await store.read.people.findById(id)
      assert.ok(person)
      const changer = { author: commandLine(INSTANCE), person, sessionId: randomUUID() }
      const change = store.write((stores) =>
        changeFactors(stores, changer, clock.nowMicros(), () => assert.fail('changed')),
      )
      await assert.rejects(change, { code: 'unauthorized' })
    })

    if (engine.name !== 'PostgreSQL') return

    /** Runs `act` while a transaction that ends the person's sessions is not committed yet. */
    async function besideTheEnd<T>(personId: string, act: () => Promise<T>): Promise<T> {
      const clients = [0, 1].map(() => new pg.Client(service.place.databaseUrl))
      const [ending, watching] = clients as [pg.Client, pg.Client]
      try {
        await Promise.all(clients.map((client) => client.connect()))
        await ending.query('begin')
        const lock = 'select pg_advisory_xact_lock(hashtextextended($1, 0))'
        await ending.query(lock, [`person ${personId}`])
        await ending.query('delete from sessions where person_id = $1', [personId])
        const acting = act()
        const waiting = eventually(async () => {
          const { rows } = await watching.query(`select pid from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`)
          assert.equal(rows.length, 1)
        })
        await Promise.race([acting, waiting])
        await ending.query('commit')
        return await acting
      } finally {
        for (const client of clients) await client.end()
      }
    }

    const password = NEW_PASSWORD
    const LATE: Record<string, (person: PersonClient, code: string) => Promise<Answer>> = {
      'sets no password': (person) => person.put('/me/password', { password }),
      'makes no recovery codes': (person) => person.post('/me/recovery-codes'),
      'accepts no invitation': (person, code) =>
        person.post('/invitations/accept', { code, password }),
    }
    for (const [name, act] of Object.entries(LATE)) {
      test(`a session that ends beside the request ${name}`, async () => {
        const person = await prepare()
        const { shown } = await invite(person.email, other)
        const answer = await besideTheEnd(person.id, () => act(person, shown))
        expectProblem(answer, 'unauthorized')
      })
    }

    test('a session that ends beside the callback links no account', async () => {
      const person = await prepare()
      const { body } = expectStatus(await person.post('/me/identities', {}), 200)
      const callback = await provider.signIn(body.url, 'late-one')
      const arrived = await besideTheEnd(person.id, () => visit(person, callback))
      assert.equal(arrived, '/app/sign-in?error=oidc_session_ended')
      assert.deepEqual((await left(person.id)).subjects, [])
    })
  })
}
