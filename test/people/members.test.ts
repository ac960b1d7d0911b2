import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Role } from '@terse/contract/roles'
import { expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { PASSWORD, type PersonClient, personClient, setUp } from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const OTHER_PASSWORD = 'another horse battery staple'
const HOUR = 60 * 60
const DAY = 24 * HOUR

for (const engine of ENGINES) {
  describe(`members and invitations on ${engine.title}`, () => {
    let service: Service
    let owner: PersonClient
    let clock: FakeClock
    let acme: string
    before(async () => {
      clock = fakeClock()
      service = await startService(engine, {}, { clock })
      await service.token('acme')
      owner = await setUp(service)
      const { body } = await owner.get('/session')
      acme = body.memberships[0].workspace_id
      owner.workspaceId = acme
    })
    after(() => service.stop())

    const authenticate = async (client: PersonClient) =>
      expectStatus(await client.post('/session/authenticate', { password: PASSWORD }), 200)
    const invite = async (email: string, role: Role, by = owner) => {
      const { body } = expectStatus(await by.post('/invitations', { email, role }), 201)
      const code: string = new URL(body.url).hash.replace('#code=', '')
      return { ...body, code }
    }
    /** A new member who is signed in. */
    const join = async (email: string, role: Role): Promise<PersonClient & { id: string }> => {
      if (role === 'owner') await authenticate(owner)
      const { code } = await invite(email, role)
      const client = personClient(service)
      const given = { code, name: email.split('@')[0], password: PASSWORD }
      const { body } = expectStatus(await client.post('/invitations/accept', given), 201)
      client.workspaceId = acme
      return Object.assign(client, { id: body.person.id as string })
    }

    test('an invitation is shown once, makes a new person a member, and works once', async () => {
      const { code, ...shown } = await invite('Grace@Example.com', 'member')
      assert.match(shown.url, /\/app\/invitation#code=[\w-]{43}$/)
      assert.equal(shown.mail_sent, false)
      const { body: list } = await owner.get('/invitations')
      const { url, mail_sent, ...listed } = shown
      assert.deepEqual(list.data, [listed])
      assert.doesNotMatch(JSON.stringify(list), new RegExp(code))

      const grace = personClient(service)
      const { body: details } = await grace.post('/invitations/look-up', { code })
      assert.equal(details.email, 'Grace@Example.com')
      assert.equal(details.workspace_name, 'acme')
      assert.deepEqual([details.account_exists, details.can_create_account], [null, true])
      expectProblem(await grace.post('/invitations/accept', { code }), 'validation_failed', [
        'name',
        'password',
      ])
      const given = { code, name: 'Grace Hopper', password: PASSWORD }
      const { body } = expectStatus(await grace.post('/invitations/accept', given), 201)
      assert.deepEqual(body.memberships, [
        { workspace_id: acme, workspace_name: 'acme', workspace_title: 'acme', role: 'member' },
      ])
      expectStatus(await grace.get('/links', { 'terse-workspace': acme }), 200)

      const again = { ...given, name: 'Eve' }
      const replayed = await personClient(service).post('/invitations/accept', again)
      expectProblem(replayed, 'validation_failed', ['code'])
      const { body: members } = await owner.get('/members')
      assert.deepEqual(
        members.data.map(({ name, role }: { name: string; role: Role }) => [name, role]),
        [
          ['Ada Lovelace', 'owner'],
          ['Grace Hopper', 'member'],
        ],
      )
      const { body: events } = await owner.get('/events?type=member.added&type=invitation.accepted')
      const added = events.data.filter(({ actor }: { actor: { name: string } }) =>
        actor.name.startsWith('Grace'),
      )
      assert.equal(added.length, 2)
    })

    test('an invitation is used by one of two people who accept it at once', async () => {
      const { code } = await invite('twice@example.com', 'viewer')
      const accept = () =>
        personClient(service).post('/invitations/accept', { code, name: 'T', password: PASSWORD })
      const answers = await Promise.all([accept(), accept(), accept()])
      const statuses = answers.map(({ status }) => status).toSorted()
      assert.equal(statuses.filter((status) => status === 201).length, 1, String(statuses))
    })

    test('an invitation is refused after seven days, after withdrawal, and when replaced', async () => {
      const accept = (code: string) =>
        personClient(service).post('/invitations/accept', { code, name: 'N', password: PASSWORD })
      const first = await invite('late@example.com', 'viewer')
      const second = await invite('LATE@example.com', 'viewer')
      expectProblem(await accept(first.code), 'validation_failed', ['code'])
      expectStatus(await owner.delete(`/invitations/${second.id}`), 200)
      expectProblem(await accept(second.code), 'validation_failed', ['code'])
      expectProblem(await owner.delete(`/invitations/${second.id}`), 'not_found')
      const third = await invite('late@example.com', 'viewer')
      clock.move(6 * DAY)
      await authenticate(owner)
      clock.move(DAY)
      expectProblem(await accept(third.code), 'validation_failed', ['code'])
    })

    test('an invitation is for its address alone', async () => {
      // Into a workspace of which the other is no member, so that nothing else refuses it.
      const { code, workspaceId } = await inviteElsewhere('someone@example.com')
      const other = await join('other@example.com', 'viewer')
      const refused = await other.post('/invitations/accept', { code })
      const { message } = expectProblem(refused, 'validation_failed', ['code']).body
      assert.match(message, /is for someone@example\.com/)
      const header = { 'terse-workspace': workspaceId }
      expectProblem(await other.get('/links', header), 'not_found')
      const { code: taken } = await inviteElsewhere('other@example.com')
      const given = { code: taken, name: 'Eve', password: PASSWORD }
      // A stranger who finds the link of a person with an account must sign in as that person.
      const stranger = await personClient(service).post('/invitations/accept', given)
      expectProblem(stranger, 'unauthorized')
      const wrong = { email: 'nobody@example.com', password: PASSWORD }
      const { body: refusal } = await personClient(service).post('/session', wrong)
      const { request_id } = stranger.body
      const unconfirmed = { ...refusal, request_id }
      assert.deepEqual(stranger.body, unconfirmed, 'the answer does not confirm the account')
      await authenticate(other)
      const fresh = { code: taken, password: OTHER_PASSWORD }
      const { body } = expectStatus(await other.post('/invitations/accept', fresh), 201)
      assert.equal(body.memberships.length, 2)
    })

    const inviteElsewhere = async (email: string) => {
      await authenticate(owner)
      const name = `other-${randomUUID().slice(0, 8)}`
      const { body } = expectStatus(await owner.post('/workspaces', { name }), 201)
      const answer = await owner.post(
        '/invitations',
        { email, role: 'admin' },
        { 'terse-workspace': body.id },
      )
      const code: string = new URL(expectStatus(answer, 201).body.url).hash.replace('#code=', '')
      return { code, workspaceId: body.id as string }
    }

    test('an admin invites no owner and changes none, and a member cannot invite', async () => {
      const admin = await join('admin@example.com', 'admin')
      const member = await join('member@example.com', 'member')
      const asOwner = { email: 'x@example.com', role: 'owner' }
      expectProblem(await admin.post('/invitations', asOwner), 'missing_role')
      expectProblem(await admin.patch(`/members/${member.id}`, { role: 'owner' }), 'missing_role')
      const { body } = await owner.get('/session')
      const ownerPath = `/members/${body.person.id}`
      expectProblem(await admin.patch(ownerPath, { role: 'viewer' }), 'missing_role')
      expectProblem(await admin.delete(ownerPath), 'missing_role')
      expectProblem(
        await member.post('/invitations', { ...asOwner, role: 'viewer' }),
        'missing_role',
      )
      expectProblem(await member.get('/members'), 'missing_role')
      expectStatus(await admin.patch(`/members/${member.id}`, { role: 'viewer' }), 200)
      const link = { domain: 'localhost', url: 'https://example.com/' }
      expectProblem(await member.post('/links', link), 'missing_role')
    })

    test('a role above admin needs a recent authentication', async () => {
      const next = await join('next@example.com', 'admin')
      await authenticate(owner)
      clock.move(11 * 60)
      const promote = () => owner.patch(`/members/${next.id}`, { role: 'owner' })
      expectProblem(await promote(), 'authentication_required')
      await authenticate(owner)
      expectStatus(await promote(), 200)
      expectStatus(await owner.patch(`/members/${next.id}`, { role: 'viewer' }), 200)
    })

    test('a removed member loses the workspace with the next request', async () => {
      const member = await join('leaving@example.com', 'member')
      expectStatus(await member.get('/links'), 200)
      expectStatus(await owner.delete(`/members/${member.id}`), 200)
      expectProblem(await member.get('/links'), 'not_found')
      assert.deepEqual((await member.get('/session')).body.memberships, [])
      expectProblem(await owner.delete(`/members/${member.id}`), 'not_found')
    })

    test('the last owner stays, also when two owners go at once', async () => {
      const { workspaceId } = await inviteElsewhere('someone-else@example.com')
      const header = { 'terse-workspace': workspaceId }
      const { body } = await owner.get('/session')
      const leave = (client: PersonClient) => client.delete(`/workspaces/${workspaceId}/membership`)
      expectProblem(await leave(owner), 'validation_failed', ['role'])

      const partner = await join('partner@example.com', 'viewer')
      const made = await owner.post(
        '/invitations',
        { email: 'partner@example.com', role: 'owner' },
        header,
      )
      const code = new URL(expectStatus(made, 201).body.url).hash.replace('#code=', '')
      const given = { code, password: OTHER_PASSWORD }
      expectStatus(await partner.post('/invitations/accept', given), 201)
      const demoteAda = partner.send(
        'PATCH',
        `/members/${body.person.id}`,
        { role: 'viewer' },
        header,
      )
      const demotePartner = owner.send(
        'PATCH',
        `/members/${partner.id}`,
        { role: 'viewer' },
        header,
      )
      const answers = await Promise.all([demoteAda, demotePartner])
      assert.deepEqual(answers.map(({ status }) => status === 200).toSorted(), [false, true])
      const members = await service.instance.store.read.memberships.listOfWorkspace(workspaceId)
      assert.equal(members.filter(({ role }) => role === 'owner').length, 1)
    })

    test('a member of one workspace learns nothing of another', async () => {
      const viewer = await join('viewer@example.com', 'viewer')
      const { workspaceId } = await inviteElsewhere('nobody@example.com')
      for (const id of [workspaceId, randomUUID()]) {
        const { message } = expectProblem(await viewer.get(`/workspaces/${id}`), 'not_found').body
        assert.equal(message, `Workspace "${id}" not found.`)
        expectProblem(await viewer.delete(`/workspaces/${id}/membership`), 'not_found')
      }
    })
  })
}
