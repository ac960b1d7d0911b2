import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Role } from '@terse/contract/roles'
import pg from 'pg'
import { openPeople } from '../../src/app/composition/services.ts'
import type { Stores } from '../../src/app/database/stores.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { SCOPES } from '../../src/identity/permissions.ts'
import { INSTANCE } from '../../src/storage/event-log.ts'
import { type Answer, apiClient, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { PASSWORD, type PersonClient, personClient, setUp } from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const NEW_PASSWORD = 'another horse battery staple'
const MINUTE = 60

type Member = PersonClient & { readonly id: string; readonly email: string }

for (const engine of ENGINES) {
  describe(`grants on ${engine.title}`, () => {
    let service: Service
    let owner: PersonClient
    let clock: FakeClock
    let acme: string
    let elsewhere: string
    before(async () => {
      // Tokens are ended at the machine's time.
      clock = fakeClock(Date.now())
      service = await startService(engine, {}, { clock })
      await service.token('acme')
      owner = await setUp(service)
      const { body } = await owner.get('/session')
      acme = body.memberships[0].workspace_id
      owner.workspaceId = acme
      elsewhere = expectStatus(await owner.post('/workspaces', { name: 'elsewhere' }), 201).body.id
    })
    after(() => service.stop())

    const write = (work: (stores: Stores) => Promise<unknown>) => service.instance.store.write(work)
    const codeIn = ({ body }: Answer): string => new URL(body.url).hash.replace('#code=', '')
    const authenticate = async (client: PersonClient) =>
      expectStatus(await client.post('/session/authenticate', { password: PASSWORD }), 200)
    const invite = async (by: Pick<PersonClient, 'post'>, email: string, role: Role) =>
      codeIn(expectStatus(await by.post('/invitations', { email, role }), 201))
    const accept = (code: string) =>
      personClient(service).post('/invitations/accept', { code, name: 'N', password: PASSWORD })
    const join = async (role: Role): Promise<Member> => {
      await authenticate(owner)
      const email = `${randomUUID()}@example.com`
      const code = await invite(owner, email, role)
      const client = personClient(service)
      const given = { code, name: role, password: PASSWORD }
      const { body } = expectStatus(await client.post('/invitations/accept', given), 201)
      client.workspaceId = acme
      return Object.assign(client, { id: body.person.id as string, email })
    }
    const resetLink = async (by: PersonClient, { id }: Member) => {
      await authenticate(by)
      return codeIn(expectStatus(await by.post(`/members/${id}/password-reset`), 201))
    }
    const reset = (code: string) =>
      personClient(service).post('/password-resets/complete', { code, password: NEW_PASSWORD })
    const openLinks = async (id: string) => {
      const listed = await service.instance.store.read.oneTimeLinks.listOpenOf(
        id,
        clock.nowMicros(),
      )
      return listed.length
    }
    const expectDead = async (answer: Answer) => {
      const expired = await resetLink(owner, await join('viewer'))
      clock.move(25 * 60 * MINUTE)
      const { body } = expectProblem(await reset(expired), 'validation_failed', ['code'])
      const { request_id } = answer.body
      assert.deepEqual([answer.status, answer.body], [422, { ...body, request_id }])
    }
    const joinElsewhere = async (member: Member) => {
      const header = { 'terse-workspace': elsewhere }
      const given = { email: member.email, role: 'viewer' }
      const code = codeIn(expectStatus(await owner.post('/invitations', given, header), 201))
      // Joining would end all links of a person whose address is unproved (address-proof.test.ts).
      await write((stores) => stores.people.update(member.id, { email_proved_at: 1 }))
      expectStatus(await member.post('/invitations/accept', { code }), 201)
    }
    const setRole = async (member: Member, role: Role) => {
      await authenticate(owner)
      expectStatus(await owner.patch(`/members/${member.id}`, { role }), 200)
    }
    const patchPerson = async (member: Member, body: object) => {
      await authenticate(owner)
      expectStatus(await owner.patch(`/people/${member.id}`, body), 200)
    }
    const deletePerson = async (member: Member) => {
      await authenticate(owner)
      expectStatus(await owner.delete(`/people/${member.id}`), 200)
    }
    const removeMember = async (member: Member) => {
      await authenticate(owner)
      expectStatus(await owner.delete(`/members/${member.id}`), 200)
    }

    /** What ends the reason of a grant: as people do it, and in the store alone, where nothing tidies up. */
    type Ending = {
      readonly act: (of: Member) => Promise<void>
      readonly store: (stores: Stores, of: Member) => Promise<unknown>
    }
    const leaving: Record<string, Ending> = {
      'is removed': {
        act: removeMember,
        store: (stores, { id }) => stores.memberships.delete(acme, id),
      },
      'is demoted': {
        act: (member) => setRole(member, 'member'),
        store: (stores, { id }) => stores.memberships.setRole(acme, id, 'member', 'hand'),
      },
      'is disabled': {
        act: (member) => patchPerson(member, { is_disabled: true }),
        store: (stores, { id }) => stores.people.update(id, { disabled_at: 1 }),
      },
      'is deleted': {
        act: deletePerson,
        store: (stores, { id }) => stores.people.delete(id),
      },
    }
    const rising: Record<string, Ending> = {
      'joins another workspace': {
        act: joinElsewhere,
        store: (stores, { id }) =>
          stores.memberships.insert({
            ...{
              workspace_id: elsewhere,
              person_id: id,
              role: 'viewer',
              created_at: 1,
              source: 'hand',
            },
          }),
      },
      'becomes owner': {
        act: (member) => setRole(member, 'owner'),
        store: (stores, { id }) => stores.memberships.setRole(acme, id, 'owner', 'hand'),
      },
      'becomes an operator': {
        act: (member) => patchPerson(member, { is_operator: true }),
        store: (stores, { id }) => stores.people.update(id, { is_operator: true }),
      },
      'leaves the workspace': {
        act: removeMember,
        store: (stores, { id }) => stores.memberships.delete(acme, id),
      },
    }

    test('an admin gives a member a new password, and an admin too', async () => {
      const admin = await join('admin')
      for (const member of [await join('member'), await join('admin')]) {
        expectStatus(await reset(await resetLink(admin, member)), 200)
        const given = { email: member.email, password: NEW_PASSWORD }
        expectStatus(await personClient(service).post('/session', given), 201)
      }
    })

    for (const [what, { act, store }] of Object.entries(rising)) {
      test(`a reset link of an admin is dead once the member ${what}`, async () => {
        const admin = await join('admin')
        const [kept, tidied] = [await join('member'), await join('member')]
        const codes = [await resetLink(admin, kept), await resetLink(admin, tidied)] as const
        await write((stores) => store(stores, kept))
        await act(tidied)
        for (const code of codes) await expectDead(await reset(code))
        assert.equal(await openLinks(tidied.id), 0)
        const given = { email: kept.email, password: PASSWORD }
        expectStatus(await personClient(service).post('/session', given), 201)
      })
    }

    for (const [what, { act, store }] of Object.entries(leaving)) {
      test(`a reset link is dead once its maker ${what}`, async () => {
        for (const end of [act, (of: Member) => write((stores) => store(stores, of))]) {
          const admin = await join('admin')
          const member = await join('member')
          const code = await resetLink(admin, member)
          await end(admin)
          const open = await openLinks(member.id)
          await expectDead(await reset(code))
          assert.equal(open, end === act ? 0 : 1)
        }
      })

      test(`an invitation is dead once its author ${what}`, async () => {
        for (const end of [act, (of: Member) => write((stores) => store(stores, of))]) {
          const admin = await join('admin')
          const email = `${randomUUID()}@example.com`
          const code = await invite(admin, email, 'viewer')
          await end(admin)
          const lookedUp = await personClient(service).post('/invitations/look-up', { code })
          const { body } = expectProblem(lookedUp, 'validation_failed', ['code'])
          assert.match(
            body.errors.code[0],
            /is not valid: it was used or withdrawn, or has expired/,
          )
          expectProblem(await accept(code), 'validation_failed', ['code'])
          if (end !== act) continue
          const { body: list } = await owner.get('/invitations')
          assert.ok(!list.data.some((each: { email: string }) => each.email === email))
          const { body: events } = await owner.get('/events?type=invitation.deleted&per_page=1')
          const [{ actor, before: fields }] = events.data
          assert.deepEqual(
            [actor.kind, actor.name, fields.email],
            ['system', 'ended rights', email],
          )
        }
      })
    }

    test('an admin who was an owner keeps the invitations that an admin may make', async () => {
      const partner = await join('owner')
      const [asOwner, asViewer] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`]
      const high = await invite(partner, asOwner, 'owner')
      const low = await invite(partner, asViewer, 'viewer')
      await setRole(partner, 'admin')
      expectProblem(await accept(high), 'validation_failed', ['code'])
      expectStatus(await accept(low), 201)
    })

    test('a reset link of an operator is dead once its maker is no operator', async () => {
      const member = await join('member')
      await joinElsewhere(member)
      const ends = [
        (of: Member) => write((stores) => stores.people.update(of.id, { is_operator: false })),
        (of: Member) => patchPerson(of, { is_operator: false }),
      ]
      for (const [index, end] of ends.entries()) {
        const operator = await join('member')
        await write((stores) => stores.people.update(operator.id, { email_proved_at: 1 }))
        await patchPerson(operator, { is_operator: true })
        const made = await operator.post(`/people/${member.id}/password-reset`)
        await end(operator)
        const open = await openLinks(member.id)
        await expectDead(await reset(codeIn(expectStatus(made, 201))))
        assert.equal(open, 1 - index)
      }
    })

    test('links of the command line, and those that people request by mail, stay', async () => {
      const { resetLinks } = openPeople(service.instance)
      const member = await join('member')
      const person = await service.instance.store.read.people.findById(member.id)
      assert.ok(person !== undefined)
      const author = commandLine(INSTANCE)
      const made = [
        await resetLinks.create(author, member.id),
        await resetLinks.createForMail(author, person),
      ]
      await joinElsewhere(member)
      await setRole(member, 'owner')
      assert.equal(await openLinks(member.id), made.length)
      expectStatus(await reset(made[1]?.code ?? ''), 200)
      // A new password ends all other links for one.
      expectProblem(await reset(made[0]?.code ?? ''), 'validation_failed', ['code'])
    })

    test('refuses an operator a reset link for themselves, which would outlive their rights', async () => {
      const { body } = expectStatus(await owner.get('/me'), 200)
      for (const by of ['members', 'people']) {
        await authenticate(owner)
        const answer = await owner.post(`/${by}/${body.id}/password-reset`)
        expectProblem(answer, 'validation_failed', ['id'])
      }
    })

    test('a new password ends the links for another one', async () => {
      const member = await join('member')
      const code = await resetLink(owner, member)
      expectStatus(await member.put('/me/password', { password: NEW_PASSWORD }), 200)
      expectProblem(await reset(code), 'validation_failed', ['code'])
    })

    test('no token gives people passwords, or the role of those who may', async () => {
      const token = apiClient(service.baseUrl, await service.token('acme', SCOPES))
      const [admin, member] = [await join('admin'), await join('member')]
      for (const { id } of [admin, member]) {
        const answer = await token.post(`/members/${id}/password-reset`, undefined)
        const { message } = expectProblem(answer, 'missing_role').body
        assert.equal(message, 'No token may do this. Sign in as an admin.')
      }
      const given = { email: `${randomUUID()}@example.com`, role: 'admin' }
      expectProblem(await token.post('/invitations', given), 'validation_failed', ['role'])
      const promoted = await token.patch(`/members/${member.id}`, { role: 'admin' })
      expectProblem(promoted, 'validation_failed', ['role'])
      expectProblem(await token.delete(`/members/${admin.id}`), 'validation_failed', ['role'])
      expectStatus(await token.patch(`/members/${member.id}`, { role: 'viewer' }), 200)
      expectStatus(await token.post('/invitations', { ...given, role: 'member' }), 201)
    })

    test('an invitation of a token ends with the token', async () => {
      const secret = await service.token('acme', SCOPES)
      const token = apiClient(service.baseUrl, secret)
      const address = `${randomUUID()}@example.com`
      const code = await invite(token, address, 'member')
      const { oneTimeLinks } = service.instance.store.read
      const listed = await oneTimeLinks.listInvitations(acme, clock.nowMicros())
      const link = listed.find(({ email }) => email === address)
      const id = link?.created_by_id ?? ''
      assert.deepEqual([link?.created_by_kind, await openLinks(id)], ['token', 1])
      await authenticate(owner)
      expectStatus(await owner.delete(`/tokens/${id}`), 200)
      assert.equal(await openLinks(id), 0)
      expectProblem(await accept(code), 'validation_failed', ['code'])
    })

    test('no token makes one that expires later', async () => {
      await authenticate(owner)
      const inMinutes = (count: number) =>
        new Date(clock.nowMicros() / 1_000 + count * MINUTE * 1_000).toISOString()
      const expires_at = inMinutes(60)
      const given = { name: 'short', scopes: ['workspace:admin'], expires_at }
      const { secret } = expectStatus(await owner.post('/tokens', given), 201).body
      const token = apiClient(service.baseUrl, secret)
      for (const end of [{ expires_at: undefined }, { expires_at: inMinutes(61) }]) {
        const answer = await token.post('/tokens', { ...given, ...end })
        expectProblem(answer, 'validation_failed', ['expires_at'])
      }
      expectStatus(await token.post('/tokens', given), 201)
    })

    test('a role from groups stays one when its holder lowers it', async () => {
      const admin = await join('admin')
      await write((stores) => stores.memberships.setRole(acme, admin.id, 'admin', 'groups'))
      await authenticate(admin)
      expectStatus(await admin.patch(`/members/${admin.id}`, { role: 'member' }), 200)
      const found = await service.instance.store.read.memberships.find(acme, admin.id)
      assert.deepEqual([found?.role, found?.source], ['member', 'groups'])
    })

    test('an admin resets no owner, nor a member who can do more elsewhere', async () => {
      const admin = await join('admin')
      const partner = await join('owner')
      const member = await join('member')
      await joinElsewhere(member)
      await authenticate(admin)
      for (const { id } of [partner, member]) {
        expectProblem(await admin.post(`/members/${id}/password-reset`), 'missing_role')
      }
    })

    test('roles that can give access, and an export, need a recent authentication', async () => {
      const member = await join('member')
      await authenticate(owner)
      clock.move(11 * MINUTE)
      const given = { email: `${randomUUID()}@example.com`, role: 'admin' }
      const promote = () => owner.patch(`/members/${member.id}`, { role: 'admin' })
      const send = [() => owner.post('/invitations', given), promote, () => owner.get('/export')]
      for (const attempt of send) expectProblem(await attempt(), 'authentication_required')
      expectStatus(await owner.post('/invitations', { ...given, role: 'member' }), 201)
      expectStatus(await owner.patch(`/members/${member.id}`, { role: 'viewer' }), 200)
      const token = apiClient(service.baseUrl, await service.token('acme', SCOPES))
      expectStatus(await token.get('/export'), 200)
      await authenticate(owner)
      for (const attempt of send) assert.ok([200, 201].includes((await attempt()).status))
    })

    if (engine.name !== 'PostgreSQL') return

    /** Uses a grant while a transaction that ends its reason is not committed yet. */
    const useBeside = async (change: string, id: string, use: () => Promise<Answer>) => {
      const clients = [0, 1].map(() => new pg.Client(service.place.databaseUrl))
      const [changing, watching] = clients as [pg.Client, pg.Client]
      try {
        await Promise.all(clients.map((client) => client.connect()))
        await changing.query('begin')
        await changing.query(change.replace('$workspace', elsewhere), [id])
        const using = use()
        const waiting = eventually(async () => {
          const { rows } = await watching.query(`select pid from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`)
          assert.equal(rows.length, 1)
        })
        await Promise.race([using, waiting])
        await changing.query('commit')
        return await using
      } finally {
        for (const client of clients) await client.end()
      }
    }
    const CHANGES = {
      joins:
        "insert into memberships (workspace_id, person_id, role, created_at) values ('$workspace', $1, 'viewer', 1)",
      promoted: "update memberships set role = 'owner' where person_id = $1",
      operator: 'update people set is_operator = 1 where id = $1',
      demoted: "update memberships set role = 'viewer' where person_id = $1",
      disabled: 'update people set disabled_at = 1 where id = $1',
    } as const

    for (const change of ['joins', 'promoted', 'operator'] as const) {
      test(`a reset waits for a transaction beside it, and fails: ${change}`, async () => {
        const member = await join('member')
        const code = await resetLink(await join('admin'), member)
        const answer = await useBeside(CHANGES[change], member.id, () => reset(code))
        expectProblem(answer, 'validation_failed', ['code'])
      })
    }

    for (const change of ['demoted', 'disabled'] as const) {
      test(`a grant waits for the end of its maker’s right, and fails: ${change}`, async () => {
        const [admin, other] = [await join('admin'), await join('admin')]
        const resetCode = await resetLink(admin, await join('member'))
        const completing = await useBeside(CHANGES[change], admin.id, () => reset(resetCode))
        expectProblem(completing, 'validation_failed', ['code'])
        const code = await invite(other, `${randomUUID()}@example.com`, 'viewer')
        const joining = await useBeside(CHANGES[change], other.id, () => accept(code))
        expectProblem(joining, 'validation_failed', ['code'])
      })
    }
  })
}
