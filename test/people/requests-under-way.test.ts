import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Role } from '@terse/contract/roles'
import pg from 'pg'
import { openPeople } from '../../src/app/composition/services.ts'
import type { Stores } from '../../src/app/database/stores.ts'
import { type Actor, commandLine, personActor, tokenActor } from '../../src/identity/actor.ts'
import { SCOPES } from '../../src/identity/permissions.ts'
import { Sessions } from '../../src/identity/sign-in/sessions.ts'
import { generateSecret, hashSecret } from '../../src/identity/tokens.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { INSTANCE } from '../../src/storage/event-log.ts'
import { newPerson, newToken } from '../storage/samples.ts'
import { apiClient } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { setUp } from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const TOKEN = { name: 'late', scopes: ['links:read'], expiresAt: null } as const

/** Requests that were authenticated before the right of their sender ended. */
for (const engine of ENGINES) {
  describe(`requests under way on ${engine.title}`, () => {
    let service: Service
    let people: ReturnType<typeof openPeople>
    let acme: string
    before(async () => {
      service = await startService(engine)
      people = openPeople(service.instance)
      acme = (await service.instance.workspaces.create(commandLine, 'acme')).id
      await setUp(service)
    })
    after(() => service.stop())

    const write = <T>(work: (stores: Stores) => Promise<T>) => service.instance.store.write(work)
    const join = async (role: Role, workspaceId = acme): Promise<Actor> => {
      const person = newPerson()
      const membership = { workspace_id: workspaceId, person_id: person.id, role, created_at: 1 }
      await write(async (stores) => {
        await stores.people.insert(person)
        await stores.memberships.insert({ ...membership, source: 'hand' })
      })
      return personActor(person, membership, true)
    }
    const idOf = ({ id }: Actor): string => id ?? ''
    const inviting = () => ({ email: `${randomUUID()}@example.com`, role: 'viewer' as const })

    const endings: Record<string, (id: string) => Promise<unknown>> = {
      'is removed': (id) => people.members.remove(commandLine(acme), id),
      'is demoted': (id) => people.members.setRole(commandLine(acme), id, 'member'),
      'is disabled': (id) =>
        people.accounts.change(commandLine(INSTANCE), id, { isDisabled: true }),
      'is deleted': (id) => people.accounts.delete(commandLine(INSTANCE), id),
    }
    for (const [what, end] of Object.entries(endings)) {
      test(`change no right once their sender ${what}`, async () => {
        const { tokens, workspaces } = service.instance
        const { members, invitations, resetLinks } = people
        const [admin, other] = [await join('admin'), idOf(await join('viewer'))]
        const { token } = await tokens.create(admin, TOKEN)
        const { invitation } = await invitations.create(admin, inviting())
        await end(idOf(admin))
        for (const attempt of [
          () => tokens.create(admin, TOKEN),
          () => tokens.revoke(admin, token.id),
          () => members.setRole(admin, idOf(admin), 'admin'),
          () => members.setRole(admin, other, 'admin'),
          () => members.remove(admin, other),
          () => invitations.create(admin, inviting()),
          () => invitations.delete(admin, invitation.id),
          () => resetLinks.createForMember(admin, other),
          () => workspaces.change(admin, { name: 'renamed-late' }),
        ]) {
          await assert.rejects(attempt, { name: 'Failure' }, String(attempt))
        }
        assert.equal((await workspaces.getById(acme)).name, 'acme')
        const listed = await members.list(commandLine(acme))
        assert.equal(listed.find(({ person }) => person.id === other)?.role, 'viewer')
      })
    }

    test('delete no workspace once their sender, an owner, is demoted', async () => {
      const [owner] = [await join('owner'), await join('owner')]
      await people.members.setRole(commandLine(acme), idOf(owner), 'admin')
      await assert.rejects(service.instance.workspaces.delete(owner), { code: 'missing_role' })
    })

    for (const [what, change] of [
      ['operates the instance no more', { isOperator: false }],
      ['is disabled', { isDisabled: true }],
    ] as const) {
      test(`change nobody’s account once their sender ${what}`, async () => {
        const { accounts, resetLinks } = people
        const { workspaces } = service.instance
        const operator = newPerson({ is_operator: true })
        await write((stores) => stores.people.insert(operator))
        const actor = personActor(operator, undefined, true)
        const other = idOf(await join('member'))
        await accounts.change(commandLine(INSTANCE), operator.id, change)
        const before = (await accounts.get(operator.id)).person
        for (const attempt of [
          () => accounts.change(actor, operator.id, { isOperator: true }),
          () => accounts.change(actor, operator.id, { isDisabled: false }),
          () => accounts.change(actor, other, { isOperator: true }),
          () => accounts.delete(actor, other),
          () => resetLinks.create(actor, other),
          () => workspaces.create((workspaceId) => ({ ...actor, workspaceId }), 'late'),
        ]) {
          await assert.rejects(attempt, { name: 'Failure' }, String(attempt))
        }
        assert.deepEqual((await accounts.get(operator.id)).person, before)
      })
    }

    test('change no right once their session has ended', async () => {
      const actor = { ...(await join('admin')), sessionId: randomUUID() }
      const creating = service.instance.tokens.create(actor, TOKEN)
      await assert.rejects(creating, { code: 'unauthorized' })
    })

    test('end no other session once their own has ended', async () => {
      const { store, clock } = service.instance
      const sessions = new Sessions({ store, clock, random: systemRandom })
      const person = await join('viewer')
      const start = () =>
        write((stores) => sessions.start(stores, person, idOf(person), 'a browser'))
      const [own, other] = [(await start()).session.id, (await start()).session.id]
      await sessions.end(person, idOf(person), own, other)
      for (const late of [
        () => sessions.end(person, idOf(person), other, own),
        () => sessions.endOthers(person, idOf(person), own),
      ]) {
        await assert.rejects(late, { code: 'unauthorized' })
      }
      const left = await sessions.list(idOf(person))
      assert.deepEqual(
        left.map(({ id }) => id),
        [other],
      )
    })

    test('give nobody a higher role whose access would end beyond the workspace', async () => {
      const { tokens, workspaces } = service.instance
      const { members } = people
      const admin = await join('admin')
      const { token } = await tokens.create(admin, { ...TOKEN, scopes: SCOPES })
      const elsewhere = (await workspaces.create(commandLine, `w-${randomUUID().slice(0, 8)}`)).id
      const [operator, member] = [newPerson({ is_operator: true }), newPerson()]
      const membership = { role: 'viewer' as const, created_at: 1, source: 'hand' as const }
      await write(async (stores) => {
        for (const { id } of [operator, member]) {
          await stores.people.insert(id === member.id ? member : operator)
          await stores.memberships.insert({ ...membership, workspace_id: acme, person_id: id })
        }
        const there = { ...membership, workspace_id: elsewhere, person_id: member.id }
        await stores.memberships.insert(there)
      })
      for (const { id } of [operator, member])
        for (const actor of [admin, tokenActor(token)]) {
          const raising = members.setRole(actor, id, 'member')
          await assert.rejects(raising, { code: 'missing_role' })
        }
      await members.setRole(commandLine(acme), member.id, 'member')
      // A token cannot give a higher role to a person without a proved address: it makes no links for new passwords.
      const here = idOf(await join('viewer'))
      await assert.rejects(members.setRole(tokenActor(token), here, 'member'), {
        code: 'missing_role',
      })
      await members.setRole(admin, here, 'member')
    })

    test('keep a role from groups one of the groups when a token changes it', async () => {
      const { tokens } = service.instance
      const admin = await join('admin')
      const { token } = await tokens.create(admin, { ...TOKEN, scopes: SCOPES })
      const person = newPerson()
      const membership = { workspace_id: acme, person_id: person.id, created_at: 1 }
      await write(async (stores) => {
        await stores.people.insert(person)
        await stores.memberships.insert({ ...membership, role: 'member', source: 'groups' })
      })
      await people.members.setRole(tokenActor(token), person.id, 'viewer')
      const found = await service.instance.store.read.memberships.find(acme, person.id)
      assert.deepEqual([found?.role, found?.source], ['viewer', 'groups'])
    })

    test('make no token of a workspace that was deleted', async () => {
      const { tokens, workspaces } = service.instance
      const { id } = await workspaces.create(commandLine, 'short-lived')
      const admin = await join('admin', id)
      await workspaces.delete(commandLine(id))
      for (const late of [admin, commandLine(id)]) {
        await assert.rejects(tokens.create(late, TOKEN), { code: 'not_found' })
      }
      const secret = generateSecret(systemRandom)
      await write((stores) => stores.tokens.insert(newToken(id), hashSecret(secret)))
      expectProblem(await apiClient(service.baseUrl, secret).get('/links'), 'unauthorized')
    })

    if (engine.name !== 'PostgreSQL') return

    const changes: Record<string, readonly [change: string, code: string]> = {
      'is demoted': ["update memberships set role = 'viewer' where person_id = $1", 'missing_role'],
      'is removed': ['delete from memberships where person_id = $1', 'not_found'],
      'is disabled': ['update people set disabled_at = 1 where id = $1', 'not_found'],
    }
    for (const [what, [change, code]] of Object.entries(changes)) {
      test(`wait for the transaction in which their sender ${what}, and fail`, async () => {
        const clients = [0, 1].map(() => new pg.Client(service.place.databaseUrl))
        const [changing, watching] = clients as [pg.Client, pg.Client]
        try {
          await Promise.all(clients.map((client) => client.connect()))
          for (const attempt of [
            (admin: Actor) => service.instance.tokens.create(admin, TOKEN),
            (admin: Actor) => people.members.setRole(admin, idOf(admin), 'admin'),
          ]) {
            const admin = await join('admin')
            await changing.query('begin')
            await changing.query(change, [admin.id])
            const refused = assert.rejects(attempt(admin), { code })
            const waiting = eventually(async () => {
              const { rows } = await watching.query(`select pid from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'`)
              assert.equal(rows.length, 1)
            })
            await Promise.race([refused, waiting])
            await changing.query('commit')
            await refused
          }
        } finally {
          for (const client of clients) await client.end()
        }
      })
    }
  })
}
