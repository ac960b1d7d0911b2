import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { apiClient, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { invite, PASSWORD, type PersonClient, setUp } from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const CLIENT = 'browser-extension'
const USUAL = ['links:read', 'links:write']

for (const engine of ENGINES) {
  describe(`the browser extension's sign-in on ${engine.title}`, () => {
    let service: Service
    let owner: PersonClient
    let workspaceId: string
    let issuer: string
    before(async () => {
      service = await startService(engine)
      await service.token('acme')
      owner = await setUp(service)
      workspaceId = (await owner.get('/session')).body.memberships[0].workspace_id
      owner.workspaceId = workspaceId
      const metadata = await fetch(`${service.baseUrl}/.well-known/oauth-authorization-server`)
      issuer = ((await metadata.json()) as { issuer: string }).issuer
    })
    after(() => service.stop())

    const page = () => `${issuer}/app/extension`
    const newRequest = (changes: object = {}) => {
      const verifier = randomBytes(32).toString('base64url')
      const request = {
        ...{ client_id: CLIENT, redirect_uri: page(), response_type: 'code', state: 'af0ifjsldkj' },
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        ...changes,
      }
      return { verifier, request }
    }
    const signIn = async (by = owner, scopes: readonly string[] = USUAL) => {
      const { verifier, request } = newRequest()
      expectStatus(await by.post('/session/authenticate', { password: PASSWORD }), 200)
      const wanted = { request, workspace_id: workspaceId, scopes }
      const { body: allowed } = expectStatus(await by.post('/assistants', wanted), 201)
      const redirectTo = new URL(allowed.redirect_to)
      const answer = new URLSearchParams(redirectTo.hash.slice(1))
      const response = await fetch(`${service.baseUrl}/api/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          ...{ grant_type: 'authorization_code', client_id: CLIENT, redirect_uri: page() },
          ...{ code: answer.get('code') ?? '', code_verifier: verifier },
        }),
      })
      const { access_token } = (await response.json()) as { access_token: string }
      const api = apiClient(service.baseUrl, access_token)
      return { id: allowed.id as string, redirectTo, answer, api, access_token }
    }

    test('answers in the fragment of a page of the service, and nowhere else', async () => {
      const { redirectTo, answer } = await signIn()
      assert.equal(redirectTo.origin + redirectTo.pathname + redirectTo.search, page())
      assert.deepEqual([answer.get('state'), answer.get('iss')], ['af0ifjsldkj', issuer])
      const { request } = newRequest({ redirect_uri: 'https://evil.example/app/extension' })
      const refused = await owner.post('/assistants/preview', request)
      expectProblem(refused, 'validation_failed', ['redirect_uri'])
    })

    test('uses the API in the name of the person, with what was allowed and no more', async () => {
      const { api } = await signIn()
      const link = { url: 'https://example.com/', domain: 'localhost', key: `ext-${engine.name}` }
      const { body } = expectStatus(await api.post('/links', link), 201)
      const { body: events } = await owner.get('/events?type=link.created')
      assert.equal(events.data[0].actor.name, 'Ada Lovelace (Browser extension)')
      expectStatus(await api.get('/domains'), 200)
      expectStatus(await api.get(`/workspaces/${workspaceId}`), 200)
      for (const path of ['/me', '/session', '/workspaces', '/people', '/tokens', '/clicks']) {
        const { status } = await api.get(path)
        assert.equal(status, 403, path)
      }
      expectStatus(await api.delete(`/links/${body.id}`), 403)
      const full = await signIn(owner, [...USUAL, 'links:delete'])
      expectStatus(await full.api.delete(`/links/${body.id}`), 200)
    })

    test('neither lists nor withdraws what its person allows', async () => {
      const { id, api } = await signIn()
      assert.deepEqual(expectStatus(await api.get('/assistants'), 200).body.data, [])
      expectStatus(await api.delete(`/assistants/${id}`), 404)
    })

    test('is not for MCP, as tokens of MCP are not for the API', async () => {
      const { access_token } = await signIn()
      const response = await fetch(`${service.baseUrl}/mcp`, {
        method: 'POST',
        headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      })
      assert.equal(response.status, 401)
    })

    test('goes on where a workspace has switched assistants off', async () => {
      expectStatus(await owner.put('/assistants/settings', { enabled: false }), 200)
      const { api } = await signIn()
      expectStatus(await api.get('/links'), 200)
      expectStatus(await owner.put('/assistants/settings', { enabled: true }), 200)
    })

    test('ends with the rights of its person, and when it is withdrawn', async () => {
      const member = await invite(service, owner, `member-${engine.name}`)
      const viewer = await invite(service, owner, `viewer-${engine.name}`, 'viewer')
      const [first, second] = [await signIn(member), await signIn(viewer)]
      expectStatus(await second.api.get('/links'), 200)
      const link = { url: 'https://example.com/', domain: 'localhost' }
      expectProblem(await second.api.post('/links', link), 'missing_role')
      const { id } = (await member.get('/session')).body.person
      expectStatus(await owner.delete(`/members/${id}`), 200)
      expectStatus(await first.api.get('/links'), 401)
      expectStatus(await owner.delete(`/assistants/${second.id}`), 200)
      expectStatus(await second.api.get('/links'), 401)
    })
  })
}
