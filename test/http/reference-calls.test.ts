import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { TOTP } from 'otpauth'
import { PNG } from 'pngjs'
import { curlCall } from '../../src/app/api/reference/calls.ts'
import { type ApiDescription, operationsOf } from '../../src/app/api/reference/description.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { describedSchema, expectDescribed } from '../support/described-schema.ts'
import { createFolder, SQLITE } from '../support/engines.ts'
import { type Description, readDescription } from '../support/operations.ts'
import { MAY_READ, startSite } from '../support/page-of-others.ts'
import { invite, type PersonClient, setUp, signIn } from '../support/person-client.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

/** Examples that this service cannot carry out: it has been set up, and has no passkey, no single sign-on and no mail. */
const REFUSED: Readonly<Record<string, number>> = {
  'setup.complete': 422,
  // The code is in a mail, and the last owner cannot leave.
  'me.confirmEmail': 422,
  'workspaces.leave': 422,
  'me.createPasskey': 422,
  'me.patchPasskey': 404,
  'me.deletePasskey': 404,
  'session.startOidc': 404,
  'me.linkIdentity': 404,
  'me.unlinkIdentity': 404,
  'passwordResets.request': 422,
  // No assistant has asked for access.
  'assistants.preview': 422,
  'assistants.create': 422,
  'assistants.delete': 404,
}
const EXAMPLE_ID = /01a1f8[0-9a-f-]{30}/
const CODE = 'Zk3pQ9wVx2sT7bLr'
const CONVERSION_TOKEN = 'q5wUtPdZb0Yk3mVJ8xWn1sRcGa7HfLeT2uOiQyBzKDMpXvEA'
const STREAM = 'clicks.live'
const STREAM_SECONDS = 2

describe('the calls of curl in the API reference', { skip: skipWithout('curl') }, () => {
  let service: Service
  let api: Api
  let workspaceToken: string
  let token: string
  let inWorkspace: string
  let origin: string
  let site: Awaited<ReturnType<typeof startSite>>
  let made = 0
  let workspaceId: string
  let owner: PersonClient
  /** Whose session a call sends. */
  let caller: PersonClient
  let description: Description & ApiDescription
  let folder: string
  before(async () => {
    service = await startService(SQLITE, MAY_READ)
    const first = await setUp(service)
    const { body } = expectStatus(await first.post('/workspaces', { name: 'acme' }), 201)
    workspaceId = body.id
    api = await service.api('acme')
    workspaceToken = await service.token('acme')
    origin = `http://localhost:${service.port}`
    site = await startSite()
    description = (await readDescription(service.baseUrl)) as typeof description
    folder = createFolder()
    const picture = PNG.sync.write(new PNG({ width: 8, height: 8, fill: true }))
    writeFileSync(path.join(folder, 'picture.png'), new Uint8Array(picture))
    writeFileSync(path.join(folder, 'links.csv'), 'Short link,Long URL\n')
  })
  after(async () => {
    await Promise.all([service.stop(), site[Symbol.asyncDispose]()])
    rmSync(folder, { recursive: true })
  })

  const newName = () => {
    made += 1
    return `made-${made}`
  }

  /** Makes what an operation with an id works on, by the segments of its path behind the prefix. */
  async function make([family = '', second]: readonly string[]): Promise<string> {
    const name = newName()
    const bodies: Readonly<Record<string, object>> = {
      links: { domain: 'localhost', url: site.url },
      domains: { domain: `${name}.acme.test` },
      imports: { source: 'csv' },
      webhooks: { url: 'https://hooks.example.com/', events: ['link.created'] },
      'utm-templates': { name },
      'rule-sets': { name },
      tokens: { name, scopes: ['links:read'] },
      invitations: { email: `${name}@example.com`, role: 'member' },
    }
    if (family === 'me') return second === 'passkeys' ? crypto.randomUUID() : 'none'
    if (family === 'assistants') return crypto.randomUUID()
    if (family === 'workspaces') {
      const id = expectStatus(await owner.post('/workspaces', { name }), 201).body.id
      token = await service.token(name)
      inWorkspace = id
      return id
    }
    if (family === 'sessions') {
      await signIn(service)
      const { data } = (await owner.get('/sessions')).body
      return data.find(({ is_current }: { is_current: boolean }) => !is_current).id
    }
    if (family === 'members' || family === 'people') {
      return (await (await invite(service, owner, name)).get('/me')).body.id
    }
    return expectStatus(await api.post(`/${family}`, bodies[family]), 201).body.id
  }

  const codeOf = (url: string) => new URL(url).hash.replace('#code=', '')

  /** What an example needs, besides what its id names; with what stands for the values that only this service has. */
  const prepare: Readonly<Record<string, (id: string) => Promise<readonly [string, string]>>> = {
    'previews.read': async () => ['https://example.com/spring', site.url],
    'links.revert': async (id) => {
      expectStatus(await api.patch(`/links/${id}`, { url: 'https://example.com/later' }), 200)
      const { data } = (await api.get(`/links/${id}/history`)).body
      return ['1204', String(data[0].sequence)]
    },
    'utmTemplates.update': async () => ['Newsletter', newName()],
    'ruleSets.update': async () => ['Shops by country', newName()],
    'domains.update': async () => ['go.localhost', `${newName()}.acme.test`],
    'imports.start': async (id) => {
      const file = { body: 'Short link,Long URL\nlocalhost/a,https://example.com/\n' }
      const headers = { 'content-type': 'application/octet-stream' }
      const path = `/imports/${id}/file?offset=0`
      expectStatus(await api.send('PUT', path, { ...file, headers }), 200)
      return ['', '']
    },
    'conversions.record': async () => {
      const link = { domain: 'localhost', key: newName(), track_conversions: true }
      expectStatus(await api.post('/links', { ...link, url: 'https://shop.example.com/' }), 201)
      const { location = '' } = (await visit(service.port, `/${link.key}`)).headers
      return [CONVERSION_TOKEN, new URL(location).searchParams.get('tc') ?? '']
    },
    'invitations.lookUp': newInvitation,
    'invitations.accept': newInvitation,
    'passwordResets.lookUp': newPasswordReset,
    'passwordResets.complete': newPasswordReset,
    'me.confirmTotp': async () => ['492039', await newTotpCode()],
    'me.createRecoveryCodes': setUpTotp,
    'me.deleteTotp': setUpTotp,
  }

  async function setUpTotp(): Promise<readonly [string, string]> {
    expectStatus(await caller.put('/me/totp', { code: await newTotpCode() }), 200)
    return ['', '']
  }

  async function newTotpCode(): Promise<string> {
    const { secret } = expectStatus(await caller.post('/me/totp'), 201).body
    return new TOTP({ secret }).generate()
  }

  async function newInvitation(): Promise<readonly [string, string]> {
    const invitation = { email: `${newName()}@example.com`, role: 'member' }
    const { body } = expectStatus(await api.post('/invitations', invitation), 201)
    return [CODE, codeOf(body.url)]
  }

  async function newPasswordReset(): Promise<readonly [string, string]> {
    const id = await make(['people'])
    const { body } = expectStatus(await owner.post(`/people/${id}/password-reset`), 201)
    return [CODE, codeOf(body.url)]
  }

  /** Runs a call in a shell. @returns the status and the body of the answer */
  async function run(call: string, options: string): Promise<{ status: string; body: string }> {
    const script = `curl() { command curl -s -o answer -w '%{http_code}' ${options} "$@"; }\n${call}`
    const env = {
      TERSE_URL: origin,
      TERSE_TOKEN: token,
      TERSE_SESSION: caller.cookie,
      TERSE_WORKSPACE: inWorkspace,
    }
    const started = promisify(execFile)('sh', ['-c', script], {
      cwd: folder,
      env: { ...process.env, ...env },
    })
    // A call with a time limit fails by it.
    const { stdout: status } = await started.catch((error: { stdout: string }) => error)
    return { status, body: readFileSync(path.join(folder, 'answer'), 'utf8') }
  }

  test('are answered as the document says', async () => {
    const different: string[] = []
    for (const operation of operationsOf(description)) {
      const { operationId, responses } = operation
      // An operation before may have ended all sessions, and another token is for another workspace.
      owner = Object.assign(await signIn(service), { workspaceId })
      token = workspaceToken
      inWorkspace = workspaceId
      const segments = operation.path.split('/').slice(3)
      caller = segments[0] === 'me' ? await invite(service, owner, newName()) : owner
      const id = segments.includes('{id}') ? await make(segments) : ''
      const [shown, real] = (await prepare[operationId]?.(id)) ?? ['', '']
      const call = curlCall(operation, description).replace(EXAMPLE_ID, id).replace(shown, real)
      const options = operationId === STREAM ? `-m ${STREAM_SECONDS}` : ''
      const { status, body } = await run(call, options)
      const success = Object.keys(responses).find((one) => one.startsWith('2'))
      // The checks of a busy machine may take too long.
      if (operationId === 'instance.diagnose' && status === '503') continue
      if (status !== String(REFUSED[operationId] ?? success)) {
        different.push(`${operationId}: ${status} ${body.slice(0, 300)}`)
        continue
      }
      const schema = responses[status]?.content?.['application/json']?.schema
      if (schema === undefined) continue
      expectDescribed(describedSchema(description, schema), JSON.parse(body), operationId)
    }
    assert.deepEqual(different, [])
  })
})
