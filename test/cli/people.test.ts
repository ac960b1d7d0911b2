import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectStatus, untilServed } from '../support/api.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { PASSWORD, type PersonClient, personClient, signIn } from '../support/person-client.ts'
import { runCommand } from '../support/run-command.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'

describe('terse setup, person, member and event', () => {
  let place: Place
  let service: ServiceProcess
  let base: { baseUrl: string }
  let ada: PersonClient
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    service = await startProcess(place)
    base = { baseUrl: `http://127.0.0.1:${service.port}` }
    const code = codeOf(await terse('setup'))
    ada = personClient(base)
    const given = { code, email: 'ada@example.com', name: 'Ada', password: PASSWORD }
    const { body } = expectStatus(await untilServed(() => ada.post('/setup', given)), 201)
    ada.workspaceId = body.memberships[0].workspace_id
  })
  after(async () => {
    await service.kill()
    await place.remove()
  })

  /** Runs a command that must succeed, and returns what it prints. */
  const terse = async (...args: string[]): Promise<string> => {
    const result = await runCommand(args, place.env)
    assert.equal(result.code, 0, result.stderr)
    return result.stdout.trim()
  }
  const refused = async (...args: string[]): Promise<string> => {
    const result = await runCommand(args, place.env)
    assert.notEqual(result.code, 0, result.stdout)
    return result.stderr
  }
  const codeOf = (address: string) => new URL(address).hash.replace('#code=', '')
  const workspace = ['--workspace', 'default']

  test('set-up is refused once there is a person', async () => {
    assert.match(await refused('setup'), /the first person has been set up/)
  })

  test('an invitation that is printed makes a member of the person who accepts it', async () => {
    const link = await terse('person', 'invite', 'grace@example.com', ...workspace)
    assert.match(link, /\/app\/invitation#code=[\w-]{43}$/)
    const given = { code: codeOf(link), name: 'Grace', password: PASSWORD }
    const grace = personClient(base)
    expectStatus(await untilServed(() => grace.post('/invitations/accept', given)), 201)

    const people = JSON.parse(await terse('person', 'list', '--json'))
    assert.deepEqual(
      people.map(({ email, is_operator }: Record<string, unknown>) => [email, is_operator]),
      [
        ['ada@example.com', true],
        ['grace@example.com', false],
      ],
    )
    assert.match(await terse('member', 'list', ...workspace), /grace@example.com +Grace +member/)
  })

  test('a role that is changed holds for the next requests of the member', async () => {
    const grace = await signIn(base, { email: 'grace@example.com' })
    grace.workspaceId = ada.workspaceId
    expectStatus(await grace.get('/links'), 200)
    const setRole = ['member', 'set-role', 'grace@example.com', 'viewer', '--json']
    const changed = { email: 'grace@example.com', workspace: 'default', role: 'viewer' }
    assert.deepEqual(JSON.parse(await terse(...setRole, ...workspace)), changed)
    const link = { domain: 'localhost', url: 'https://example.com/' }
    await eventually(async () => expectStatus(await grace.post('/links', link), 403))
    assert.match(
      await refused('member', 'set-role', 'ada@example.com', 'viewer', ...workspace),
      /the last owner/,
    )
    assert.match(
      await refused('member', 'set-role', 'grace@example.com', 'boss', ...workspace),
      /viewer, member, admin, owner/,
    )
    await terse('member', 'remove', 'grace@example.com', ...workspace)
    await eventually(async () => expectStatus(await grace.get('/links'), 404))
  })

  test('a disabled person is signed out and cannot sign in until enabled', async () => {
    const grace = await signIn(base, { email: 'grace@example.com' })
    const disabled = JSON.parse(await terse('person', 'disable', 'GRACE@example.com', '--json'))
    assert.equal(disabled.is_disabled, true)
    await eventually(async () => expectStatus(await grace.get('/session'), 401))
    const given = { email: 'grace@example.com', password: PASSWORD }
    expectStatus(await untilServed(() => personClient(base).post('/session', given)), 401)
    assert.match(await terse('person', 'list'), /grace@example.com +Grace +disabled/)
    await terse('person', 'enable', 'grace@example.com')
    await signIn(base, { email: 'grace@example.com' })
  })

  test('a person gets another address, and is signed out', async () => {
    const grace = await signIn(base, { email: 'grace@example.com' })
    await terse('person', 'email', 'grace@example.com', 'grace@hopper.example')
    await eventually(async () => expectStatus(await grace.get('/session'), 401))
    await signIn(base, { email: 'grace@hopper.example' })
    assert.match(
      await refused('person', 'email', 'grace@hopper.example', 'grace'),
      /e-mail address/,
    )
    const taken = await refused('person', 'email', 'grace@hopper.example', 'ada@example.com')
    assert.match(taken, /has an account already/)
    await terse('person', 'email', 'grace@hopper.example', 'grace@example.com')
  })

  test('the last operator stays an operator', async () => {
    assert.match(await refused('person', 'demote', 'ada@example.com'), /another one first/)
    assert.match(await refused('person', 'disable', 'ada@example.com'), /another one first/)
    await terse('person', 'promote', 'grace@example.com')
    await terse('person', 'demote', 'ada@example.com')
    await terse('person', 'promote', 'ada@example.com')
  })

  test('the events list who did what, of a workspace or of the instance', async () => {
    const events = JSON.parse(await terse('event', 'list', ...workspace, '--json'))
    const types = events.map(({ type }: { type: string }) => type)
    for (const type of ['member.removed', 'member.updated', 'invitation.created']) {
      assert.ok(types.includes(type), type)
    }
    assert.equal(events.at(0).actor.name, 'command line')
    assert.match(await terse('event', 'list', '--instance'), /person\.disabled +command line/)
    const ofInstance = JSON.parse(await terse('event', 'list', '--instance', '--json'))
    assert.ok(
      ofInstance.every(({ workspace_id }: { workspace_id: unknown }) => workspace_id === null),
    )
    const one = await terse('event', 'list', ...workspace, '--limit', '1')
    assert.equal(one.split('\n').length, 2)
    assert.match(await refused('event', 'list'), /either --workspace or --instance/)
  })

  test('an unknown person is named in the error', async () => {
    assert.match(await refused('person', 'reset', 'eve@example.com'), /eve@example.com/)
  })
})
