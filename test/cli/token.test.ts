import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Api, apiClient, expectStatus } from '../support/api.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { makeInstance } from '../support/make-instance.ts'
import { runCli } from '../support/run-cli.ts'
import { runCommand } from '../support/run-command.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'

const TOKEN_LINE = /^terse_[0-9A-Za-z]{36}\n$/

/** How far the clocks of two processes on one machine may differ. */
const CLOCK_TOLERANCE_MS = 20

/** How long before its expiry a token is used, which must still work. */
const LAST_USE_MS = 100

type TokenRow = {
  id: string
  name: string
  scopes: string[]
  expires_at: string | null
  state: string
  last_used_at: string | null
  revoked_at: string | null
  never_expires: boolean
}

describe('terse token beside a running server', () => {
  let place: Place
  let service: ServiceProcess
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    service = await startProcess(place)
  })
  after(async () => {
    await service.kill()
    await place.remove()
  })

  const token = (...args: string[]) => runCommand(['token', ...args], place.env)
  const process = (...args: string[]) => runCli(['token', ...args], place.env)
  const apiWith = (secret: string): Api =>
    apiClient(`http://127.0.0.1:${service.port}`, secret.trim())

  async function create(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await token('create', ...args)
    assert.equal(code, 0, stderr)
    return stdout
  }

  async function list(workspace: string): Promise<TokenRow[]> {
    return JSON.parse((await token('list', '--workspace', workspace, '--json')).stdout)
  }

  test('prints only the token, creates its workspace, and the token works at once', async () => {
    const { code, stdout, stderr } = await process('create', '--workspace', 'fresh')
    assert.equal(code, 0, stderr)
    assert.equal(stderr, '')
    assert.match(stdout, TOKEN_LINE)
    const link = { domain: 'localhost', url: 'https://example.com/' }
    assert.equal((await apiWith(stdout).post('/links', link)).status, 201)

    const { stdout: again } = await token('create', '--workspace', 'fresh')
    assert.notEqual(again, stdout)
    assert.equal((await apiWith(again).get('/links')).body.meta.total, 1)
  })

  test('lists tokens without their secrets', async () => {
    const secret = await create(
      '--workspace',
      'listed',
      '--name',
      'the build',
      '--scopes',
      'links:read, links:write',
    )
    const [row, ...others] = await list('listed')
    assert.equal(others.length, 0)
    assert.equal(row?.name, 'the build')
    assert.deepEqual(row.scopes, ['links:read', 'links:write'])
    assert.deepEqual([row.expires_at, row.revoked_at], [null, null])

    for (const args of [['list'], ['list', '--workspace', 'listed'], ['list', '--json']]) {
      const { code, stdout } = await process(...args)
      assert.equal(code, 0)
      assert.ok(stdout.includes(row.id), args.join(' '))
      assert.ok(!stdout.includes(secret.trim()))
      assert.doesNotMatch(stdout, /hash|[0-9a-f]{64}/)
    }
  })

  test('grants a token exactly the requested scopes', async () => {
    const reader = apiWith(await create('--workspace', 'scoped', '--scopes', 'links:read'))
    assert.equal((await reader.get('/links')).status, 200)
    assert.equal((await reader.get('/domains')).status, 403)
    const link = { domain: 'localhost', url: 'https://example.com/' }
    assert.equal((await reader.post('/links', link)).status, 403)
  })

  test('grants all scopes by default except the administrative one, which must be requested', async () => {
    await create('--workspace', 'usual')
    await create('--workspace', 'usual', '--admin')
    await create('--workspace', 'usual', '--admin', '--scopes', 'links:read')
    const usual = [
      ...['links:read', 'links:write', 'domains:read', 'domains:write'],
      ...['clicks:read', 'conversions:read', 'conversions:write'],
    ]
    assert.deepEqual(
      (await list('usual')).map(({ scopes }) => scopes),
      [usual, [...usual, 'workspace:admin'], ['links:read', 'workspace:admin']],
    )
    const first = service.output().stdout.match(/terse_[0-9A-Za-z]{36}/)?.[0]
    if (first !== undefined) {
      const [row] = await list('default')
      assert.deepEqual(row?.scopes, usual)
    }
  })

  test('marks tokens that never expire', async () => {
    await create('--workspace', 'marked')
    await create('--workspace', 'marked', '--expires', '2099-01-01T00:00:00Z')
    const marks = (await list('marked')).map(({ never_expires }) => never_expires)
    assert.deepEqual(marks, [true, false])
    const { stdout, stderr } = await token('list', '--workspace', 'marked')
    assert.equal(stdout.match(/ never ! /g)?.length, 1)
    assert.match(stderr, /never expires: revoke it/)
  })

  test('revokes a token, which the running server rejects within a second', async () => {
    const api = apiWith(await create('--workspace', 'revoked'))
    const kept = apiWith(await create('--workspace', 'revoked'))
    assert.equal((await api.get('/links')).status, 200)
    const [row] = await list('revoked')
    assert.ok(row)

    const { code, stdout, stderr } = await process('revoke', row.id)
    assert.equal(code, 0, stderr)
    assert.equal(stdout, '')

    const refused = await eventually(async () => expectStatus(await api.get('/links'), 401))
    assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer/)
    assert.equal((await kept.get('/links')).status, 200)
    assert.ok((await list('revoked'))[0]?.revoked_at)
    assert.match((await token('list', '--workspace', 'revoked')).stdout, /\brevoked\b/)

    assert.equal((await token('revoke', row.id)).code, 4)
  })

  test('creates a token that the running server rejects from its expiry on', async () => {
    const startedAt = Date.now()
    await create('--workspace', 'expiring')
    // Enough time for two more commands, which are slow on a busy machine.
    const end = Date.now() + Math.max(1_000, 10 * (Date.now() - startedAt))
    const expires = new Date(end).toISOString()
    const api = apiWith(await create('--workspace', 'expiring', '--expires', expires))
    const fresh = (await list('expiring')).find(({ expires_at }) => expires_at !== null)
    assert.equal(Date.parse(fresh?.expires_at ?? ''), end)
    if (Date.now() < end - CLOCK_TOLERANCE_MS) assert.equal(fresh?.state, 'valid')
    await sleep(end - LAST_USE_MS - Date.now())
    const { status } = await api.get('/links')
    if (Date.now() < end - CLOCK_TOLERANCE_MS) assert.equal(status, 200)
    await sleep(end + CLOCK_TOLERANCE_MS - Date.now())
    assert.match(expectStatus(await api.get('/links'), 401).body.message, /expired/)
    const states = (await list('expiring')).map(({ state }) => state)
    assert.deepEqual(states.sort(), ['expired', 'valid'])
  })

  test('shows when a token was last used', async () => {
    const api = apiWith(await create('--workspace', 'used'))
    assert.equal((await list('used'))[0]?.last_used_at, null)
    await api.get('/links')
    await eventually(async () => assert.ok((await list('used'))[0]?.last_used_at))
  })
})

describe('terse token', () => {
  let place: Place
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    await makeInstance(place.env)
  })
  after(() => place.remove())

  const token = (...args: string[]) => runCommand(['token', ...args], place.env)

  const REFUSED: { name: string; args: string[]; code?: number; expected: RegExp }[] = [
    { name: 'no workspace', args: ['create'], expected: /--workspace/ },
    { name: 'an unusable workspace', args: ['create', '--workspace', 'A B'], expected: /name / },
    {
      name: 'an unknown scope',
      args: ['create', '--workspace', 'no', '--scopes', 'links:read,links:all'],
      expected: /"links:all".*links:write/,
    },
    {
      name: 'an empty list of scopes',
      args: ['create', '--workspace', 'no', '--scopes', ''],
      expected: /scopes/,
    },
    {
      name: 'an expiry without a time zone',
      args: ['create', '--workspace', 'no', '--expires', '2099-01-01T00:00:00'],
      expected: /zone/,
    },
    {
      name: 'an expiry in the past',
      args: ['create', '--workspace', 'no', '--expires', '2001-01-01T00:00:00Z'],
      expected: /past/,
    },
    {
      name: 'an unknown token',
      args: ['revoke', 'nobody'],
      code: 4,
      expected: /"nobody" not found/,
    },
    {
      name: 'an unknown workspace',
      args: ['list', '--workspace', 'nobody'],
      code: 4,
      expected: /"nobody" not found/,
    },
  ]
  for (const { name, args, code: expectedCode = 5, expected } of REFUSED) {
    test(`rejects ${name} in one line`, async () => {
      const { code, stdout, stderr } = await token(...args)
      assert.equal(code, expectedCode)
      assert.equal(stdout, '')
      assert.match(stderr, /^terse: [^\n]+\n$/)
      assert.match(stderr, expected)
    })
  }

  test('creates no workspace for a token that is rejected', async () => {
    await token('create', '--workspace', 'never', '--scopes', 'none')
    const { stdout } = await runCommand(['workspace', 'list', '--json'], place.env)
    assert.ok(!stdout.includes('"never"'))
  })
})
