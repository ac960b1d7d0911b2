import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Role } from '@terse/contract/roles'
import { commandLine } from '../../src/identity/actor.ts'
import { expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { freePort } from '../support/free-port.ts'
import {
  CLIENT_SECRET,
  type OidcProviderProcess,
  startOidcProvider,
} from '../support/oidc-provider.ts'
import { PASSWORD, type PersonClient, personClient, signIn } from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

describe('single sign-on with a real provider', () => {
  const clock = fakeClock(Date.now())
  /** Ends what runs, also after a start that failed: otherwise this process would not end. */
  const started = new AsyncDisposableStack()
  let provider: OidcProviderProcess
  let service: Service

  before(async () => {
    const port = await freePort()
    const baseUrl = `http://localhost:${port}`
    provider = await startOidcProvider(`${baseUrl}/app/oidc/callback`)
    started.defer(() => provider.stop())
    service = await startService(
      SQLITE,
      {
        TERSE_PORT: String(port),
        TERSE_BASE_URL: baseUrl,
        TERSE_OIDC_ISSUER: provider.issuer,
        TERSE_OIDC_CLIENT_ID: 'terse',
        TERSE_OIDC_CLIENT_SECRET: CLIENT_SECRET,
        TERSE_OIDC_NAME: 'Acme accounts',
        TERSE_OIDC_ROLES: 'editors=mapped:member,admins=mapped:admin',
        TERSE_OWNER_EMAIL: 'Ada@Example.com',
      },
      { clock },
    )
    started.defer(() => service.stop())
    await service.token('acme')
  })
  after(() => started.disposeAsync())
  beforeEach(() => clock.move(60))

  /** Requests a page as a browser does, without following its redirect. */
  async function visit(client: PersonClient, target: string): Promise<string> {
    const { pathname, search } = new URL(target, service.baseUrl)
    const { status, headers } = await client.visit(`${pathname}${search}`)
    assert.equal(status, 302)
    return headers.get('location') ?? ''
  }

  async function start(client: PersonClient, query = ''): Promise<string> {
    return visit(client, `/app/oidc/start${query}`)
  }

  /** Signs in with the provider; returns where the browser arrives. */
  async function signInAs(account: string | undefined, client = personClient(service), query = '') {
    const callback = await provider.signIn(await start(client, query), account)
    return { client, callback, arrived: await visit(client, callback) }
  }

  test('no person signs in before the owner, nor with the owner’s address unverified', async () => {
    const { body } = await personClient(service).get('/sign-in-options')
    assert.deepEqual(body.oidc, { name: 'Acme accounts' })
    assert.equal((await signInAs('bob')).arrived, '/app/sign-in?error=oidc_unknown')
    const unverified = await signInAs('unverified-ada')
    assert.equal(unverified.arrived, '/app/sign-in?error=oidc_unknown')
    assert.equal(await service.instance.store.read.people.isEmpty(), true)
  })

  test('the owner of the settings becomes the first person, also under concurrency', async () => {
    const [first, second] = await Promise.all([signInAs('ada'), signInAs('ada')])
    assert.ok([first.arrived, second.arrived].includes('/app/'))
    const winner = first.arrived === '/app/' ? first : second
    const { body } = expectStatus(await winner.client.get('/session'), 200)
    assert.deepEqual(
      [body.person.email, body.person.name, body.person.is_operator],
      ['ada@example.com', 'Person ada', true],
    )
    assert.equal(body.memberships[0].role, 'owner')
    const me = await winner.client.get('/me')
    const [identity] = me.body.identities
    assert.equal(identity.issuer, provider.issuer)
    const last = await winner.client.delete(`/me/identities/${identity.id}`)
    expectProblem(last, 'validation_failed', ['identity'])
    assert.equal(me.body.has_password, false)
  })

  test('a known account signs in, with a new session, and returns to a local page', async () => {
    const { client, arrived } = await signInAs('ada', undefined, '?return_to=/app/links%3Ftag=a')
    assert.equal(arrived, '/app/links?tag=a')
    const cookie = client.cookie
    const again = await signInAs('ada', client, '?return_to=https://evil.example/app/')
    assert.equal(again.arrived, '/app/')
    assert.notEqual(client.cookie, cookie)
    client.cookie = cookie
    expectProblem(await client.get('/session'), 'unauthorized')
    for (const path of ['//evil.example', '/short-link', '/app/../short-link']) {
      const query = `?return_to=${encodeURIComponent(path)}`
      assert.equal((await signInAs('ada', undefined, query)).arrived, '/app/')
    }
  })

  test('an account is never linked by its e-mail address', async () => {
    const workspace = await service.instance.workspaces.ensure(commandLine, 'acme')
    const { client: ada } = await signInAs('ada')
    ada.workspaceId = workspace.id
    const invited = expectStatus(
      await ada.post('/invitations', { email: 'bob@example.com', role: 'member' }),
      201,
    )
    const [, code] = invited.body.url.split('#code=')
    const bob = personClient(service)
    const body = { code, name: 'Bob', password: PASSWORD }
    expectStatus(await bob.post('/invitations/accept', body), 201)
    assert.equal((await signInAs('bob')).arrived, '/app/sign-in?error=oidc_unknown')

    const begun = expectStatus(await bob.post('/me/identities', { return_to: '/app/me' }), 200)
    const callback = await provider.signIn(begun.body.url, 'bob')
    assert.equal(await visit(bob, callback), '/app/me')
    assert.equal((await bob.get('/me')).body.identities.length, 1)
    // The provider has proved the address, which ended the password from before.
    expectStatus(await bob.put('/me/password', { password: PASSWORD }), 200)
    assert.equal((await signInAs('bob')).arrived, '/app/')
  })

  test('a link needs a fresh session, which is still there at the end', async () => {
    const { client } = await signInAs('bob')
    clock.move(20 * 60)
    expectProblem(await client.post('/me/identities', {}), 'authentication_required')
    const { client: fresh } = await signInAs('bob')
    const begun = expectStatus(await fresh.post('/me/identities', {}), 200)
    const callback = await provider.signIn(begun.body.url, 'carol')
    const [session = ''] = fresh.cookie.split('; ').filter((pair) => pair.includes('session'))
    fresh.cookie = fresh.cookie.replace(session, '').replace(/^; |; $/, '')
    assert.equal(await visit(fresh, callback), '/app/sign-in?error=oidc_session_ended')
    const { client: other } = await signInAs('bob')
    const linking = expectStatus(await other.post('/me/identities', {}), 200)
    const taken = await provider.signIn(linking.body.url, 'ada')
    assert.equal(await visit(other, taken), '/app/sign-in?error=oidc_linked_elsewhere')
  })

  test('a linked account is unlinked, which ends the sessions that it began', async () => {
    const here = await signIn(service, { email: 'bob@example.com' })
    const { client: there } = await signInAs('bob')
    const [{ id }] = (await here.get('/me')).body.identities
    const { client: ada } = await signInAs('ada')
    expectProblem(await ada.delete(`/me/identities/${id}`), 'not_found')
    clock.move(20 * 60)
    expectProblem(await here.delete(`/me/identities/${id}`), 'authentication_required')
    expectStatus(await here.post('/session/authenticate', { password: PASSWORD }), 200)
    expectStatus(await here.delete(`/me/identities/${id}`), 200)
    expectProblem(await here.delete(`/me/identities/${id}`), 'not_found')
    expectProblem(await there.get('/me'), 'unauthorized')
    assert.deepEqual((await here.get('/me')).body.identities, [])
    assert.equal((await signInAs('bob')).arrived, '/app/sign-in?error=oidc_unknown')
    const { body } = expectStatus(await here.post('/me/identities', {}), 200)
    assert.equal(await visit(here, await provider.signIn(body.url, 'bob')), '/app/')
  })

  test('an invitation makes a person with its own address, once', async () => {
    const workspace = await service.instance.workspaces.ensure(commandLine, 'acme')
    const { client: ada } = await signInAs('ada')
    ada.workspaceId = workspace.id
    const invited = await ada.post('/invitations', { email: 'dora@else.example', role: 'viewer' })
    const [, invitation] = expectStatus(invited, 201).body.url.split('#code=')
    const accept = async (account: string) => {
      const client = personClient(service)
      const begun = expectStatus(await client.post('/session/oidc', { invitation }), 200)
      return {
        client,
        arrived: await visit(client, await provider.signIn(begun.body.url, account)),
      }
    }
    const { client, arrived } = await accept('dora')
    assert.equal(arrived, '/app/')
    const { person, memberships } = (await client.get('/session')).body
    assert.equal(person.email, 'dora@else.example')
    assert.deepEqual(
      memberships.map(({ role }: { role: string }) => role),
      ['viewer'],
    )
    assert.equal((await accept('eve')).arrived, '/app/sign-in?error=oidc_invitation')
    assert.equal((await signInAs('eve')).arrived, '/app/sign-in?error=oidc_unknown')
  })

  const mapped = () => service.instance.workspaces.ensure(commandLine, 'mapped')
  /** The role in a workspace after a sign-on with these groups. */
  const roleIn = async (workspaceId: string, groups: readonly string[], account = 'bob') => {
    await provider.setGroups({ [account]: groups })
    const { client } = await signInAs(account)
    return heldRole(client, workspaceId)
  }
  const heldRole = async (client: PersonClient, workspaceId: string) => {
    const { memberships } = expectStatus(await client.get('/session'), 200).body
    const held = memberships.find(
      ({ workspace_id: id }: { workspace_id: string }) => id === workspaceId,
    )
    return held?.role as string | undefined
  }
  const membershipOf = (workspaceId: string, personId: string, role: Role) => ({
    ...{ workspace_id: workspaceId, person_id: personId, role, created_at: clock.nowMicros() },
  })
  const personIdOf = async (account: string): Promise<string> => {
    await provider.setGroups({ [account]: [] })
    const { client } = await signInAs(account)
    return (await client.get('/session')).body.person.id
  }

  test('groups give a role at each sign-on and take away what they gave', async () => {
    const { id } = await mapped()
    assert.equal(await roleIn(id, ['editors', 'others']), 'member')
    assert.equal(await roleIn(id, ['editors', 'admins']), 'admin')
    assert.equal(await roleIn(id, []), undefined)
    const { client: bob } = await signInAs('bob')
    const { body } = await bob.get('/session')
    assert.equal(body.memberships.length, 1, 'acme is not in the map')
    const owner = { ...membershipOf(id, body.person.id, 'owner'), source: 'groups' as const }
    await service.instance.store.write((stores) => stores.memberships.insert(owner))
    assert.equal(await roleIn(id, ['editors']), 'owner', 'the last owner stays')
    await service.instance.store.write((stores) => stores.memberships.delete(id, body.person.id))
  })

  test('a role given by hand stays, whatever the groups are', async () => {
    const { id } = await mapped()
    const bob = await personIdOf('bob')
    const byHand = { ...membershipOf(id, bob, 'viewer'), source: 'hand' as const }
    await service.instance.store.write((stores) => stores.memberships.insert(byHand))
    assert.equal(await roleIn(id, ['admins']), 'viewer')
    assert.equal(await roleIn(id, []), 'viewer')
    await service.instance.store.write((stores) => stores.memberships.delete(id, bob))
  })

  test('a membership from before the source was noted follows the groups', async () => {
    const { id } = await mapped()
    const bob = await personIdOf('bob')
    const before = { ...membershipOf(id, bob, 'admin'), source: null }
    await service.instance.store.write((stores) => stores.memberships.insert(before))
    assert.equal(await roleIn(id, []), undefined)
  })

  test('the map means the workspace that had the name first, whatever it is called now', async () => {
    const first = await mapped()
    assert.equal(await roleIn(first.id, ['editors']), 'member')
    const { workspaces } = service.instance
    await workspaces.change(commandLine(first.id), { name: 'mapped-before' })
    const second = await mapped()
    assert.notEqual(second.id, first.id)
    assert.equal(await roleIn(second.id, ['admins']), undefined)
    assert.equal(await roleIn(first.id, ['admins']), 'admin')

    await workspaces.delete(commandLine(first.id))
    assert.equal(await roleIn(second.id, ['admins']), undefined, 'no other takes its place')
    await workspaces.bindGroups(commandLine(second.id))
    assert.equal(await roleIn(second.id, ['admins']), 'admin')
  })

  test('operators alone rename what the map names, and give another such a name', async () => {
    const { id } = await mapped()
    assert.equal(await roleIn(id, ['admins']), 'admin')
    const { client: bob } = await signInAs('bob')
    const rename = (client: PersonClient, workspaceId: string, name: string) => {
      client.workspaceId = workspaceId
      return client.patch(`/workspaces/${workspaceId}`, { name })
    }
    expectProblem(await rename(bob, id, 'taken-away'), 'validation_failed', ['name'])
    const token = await service.api('mapped')
    const byToken = await token.patch(`/workspaces/${id}`, { name: 'taken-away' })
    expectProblem(byToken, 'validation_failed', ['name'])

    const { workspaces, store } = service.instance
    await workspaces.change(commandLine(id), { name: 'mapped-elsewhere' })
    const other = await workspaces.ensure(commandLine, 'other-of-bob')
    const { id: bobId } = (await bob.get('/session')).body.person
    const member = { ...membershipOf(other.id, bobId, 'admin'), source: 'hand' as const }
    await store.write((stores) => stores.memberships.insert(member))
    const { client: again } = await signInAs('bob')
    expectProblem(await rename(again, other.id, 'mapped'), 'validation_failed', ['name'])
    const still = await rename(again, id, 'somewhere-else')
    expectProblem(still, 'validation_failed', ['name'])
    expectStatus(await rename(again, other.id, 'free-name'), 200)

    const { client: ada } = await signInAs('ada')
    const { id: adaId } = (await ada.get('/session')).body.person
    const owner = { ...membershipOf(id, adaId, 'owner'), source: 'hand' as const }
    await store.write((stores) => stores.memberships.insert(owner))
    const { client: operator } = await signInAs('ada')
    expectStatus(await rename(operator, id, 'mapped'), 200)
  })

  test('a role from groups ends with the account, and unconfirmed after 30 days', async () => {
    const { id } = await mapped()
    assert.equal(await roleIn(id, ['editors']), 'member')
    const confirmed = await signIn(service, { email: 'bob@example.com' })
    assert.equal(await heldRole(confirmed, id), 'member')
    clock.move(31 * 24 * 60 * 60)
    const lapsed = await signIn(service, { email: 'bob@example.com' })
    assert.equal(await heldRole(lapsed, id), undefined)

    assert.equal(await roleIn(id, ['editors']), 'member')
    const here = await signIn(service, { email: 'bob@example.com' })
    const [{ id: identity }] = (await here.get('/me')).body.identities
    expectStatus(await here.delete(`/me/identities/${identity}`), 200)
    assert.equal(await heldRole(here, id), undefined)
    const { body } = expectStatus(await here.post('/me/identities', {}), 200)
    await visit(here, await provider.signIn(body.url, 'bob'))
    assert.equal(await heldRole(here, id), 'member', 'linked again')
    await provider.setGroups({ bob: [] })
  })

  test('a callback works once, in the browser that began, for ten minutes', async () => {
    const { client, callback } = await signInAs('ada')
    assert.equal(await visit(client, callback), '/app/sign-in?error=oidc_expired')
    const begun = personClient(service)
    const url = await start(begun)
    const cookie = begun.cookie
    const answered = await provider.signIn(url, 'ada')
    assert.equal(await visit(personClient(service), answered), '/app/sign-in?error=oidc_expired')
    const wrong = new URL(answered)
    wrong.searchParams.set('state', 'x'.repeat(43))
    assert.equal(await visit(begun, wrong.href), '/app/sign-in?error=oidc_expired')
    begun.cookie = cookie
    assert.equal(await visit(begun, answered), '/app/')
    begun.cookie = cookie
    const replayed = await visit(begun, answered)
    assert.match(replayed, /error=oidc_(failed|expired)$/)
    const late = personClient(service)
    const lateCallback = await provider.signIn(await start(late), 'ada')
    clock.move(10 * 60)
    assert.equal(await visit(late, lateCallback), '/app/sign-in?error=oidc_expired')
  })

  test('a person who refuses at the provider returns to the sign-in page', async () => {
    assert.equal((await signInAs(undefined)).arrived, '/app/sign-in?error=oidc_denied')
  })

  test('a disabled person does not sign in', async () => {
    const { client } = await signInAs('dora')
    const { id } = (await client.get('/session')).body.person
    const disabled = { disabled_at: clock.nowMicros() }
    await service.instance.store.write((stores) => stores.people.update(id, disabled))
    assert.equal((await signInAs('dora')).arrived, '/app/sign-in?error=oidc_unknown')
  })
})
