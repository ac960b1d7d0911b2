import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import {
  invite,
  PASSWORD,
  type PersonClient,
  personClient,
  setUp,
} from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const CALLBACK = 'http://127.0.0.1:33418/callback'
const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Body = any

type Tokens = { readonly access_token: string; readonly refresh_token: string }

for (const engine of ENGINES) {
  describe(`assistants on ${engine.title}`, () => {
    let service: Service
    let clock: FakeClock
    let owner: PersonClient
    let workspaceId: string
    let clientId: string
    before(async () => {
      clock = fakeClock()
      service = await startService(engine, { TERSE_OAUTH_REGISTRATION: 'on' }, { clock })
      await service.token('acme')
      owner = await setUp(service)
      workspaceId = (await owner.get('/session')).body.memberships[0].workspace_id
      owner.workspaceId = workspaceId
      clientId = await register({ client_name: 'Orbit Desktop', redirect_uris: [CALLBACK] })
    })
    after(() => service.stop())

    const post = async (path: string, body: object, type = 'form') => {
      const response = await fetch(service.baseUrl + path, {
        method: 'POST',
        headers: {
          'content-type':
            type === 'form' ? 'application/x-www-form-urlencoded' : 'application/json',
        },
        body:
          type === 'form'
            ? new URLSearchParams(body as Record<string, string>).toString()
            : JSON.stringify(body),
      })
      return { status: response.status, body: (await response.json()) as Body }
    }
    const read = async (path: string): Promise<Body> => (await fetch(service.baseUrl + path)).json()
    const register = async (body: object): Promise<string> => {
      const { status, body: answer } = await post('/api/oauth/register', body, 'json')
      assert.equal(status, 201, JSON.stringify(answer))
      return answer.client_id
    }
    const newRequest = (changes: object = {}) => {
      const verifier = randomBytes(32).toString('base64url')
      const request = {
        client_id: clientId,
        redirect_uri: CALLBACK,
        response_type: 'code',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        state: 'af0ifjsldkj',
        ...changes,
      }
      return { verifier, request }
    }
    const allow = async (
      by = owner,
      { scopes = ['links:read', 'links:write'], days = 30, changes = {} } = {},
    ) => {
      const { verifier, request } = newRequest(changes)
      const body = { request, workspace_id: workspaceId, scopes, days }
      expectStatus(await by.post('/session/authenticate', { password: PASSWORD }), 200)
      const { body: created } = expectStatus(await by.post('/assistants', body), 201)
      const code = new URL(created.redirect_to).searchParams.get('code') ?? ''
      return { id: created.id as string, code, verifier, created }
    }
    const exchange = (code: string, verifier: string, changes: object = {}) =>
      post('/api/oauth/token', {
        grant_type: 'authorization_code',
        ...{ client_id: clientId, redirect_uri: CALLBACK, code, code_verifier: verifier },
        ...changes,
      })
    const connect = async (by = owner, options = {}): Promise<Tokens & { readonly id: string }> => {
      const { id, code, verifier } = await allow(by, options)
      const { status, body } = await exchange(code, verifier)
      assert.equal(status, 200, JSON.stringify(body))
      return { id, ...body }
    }
    const refresh = (refresh_token: string, changes: object = {}) =>
      post('/api/oauth/token', {
        grant_type: 'refresh_token',
        ...{ client_id: clientId, refresh_token },
        ...changes,
      })
    const mcp = async (token: string | undefined, method = 'tools/list', params = {}) => {
      const response = await fetch(`${service.baseUrl}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-11-25',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      const text = await response.text()
      const data = /^data: (.*)$/m.exec(text)?.[1] ?? text
      const body: Body = JSON.parse(data)
      return { status: response.status, headers: response.headers, body }
    }
    const call = async (token: string, name: string, given: object) => {
      const { body } = await mcp(token, 'tools/call', { name, arguments: given })
      return body.result
    }

    test('find by the challenge of a refused request where they may ask', async () => {
      const { status, headers } = await mcp(undefined)
      assert.equal(status, 401)
      const [, address = ''] =
        /resource_metadata="([^"]+)"/.exec(headers.get('www-authenticate') ?? '') ?? []
      const { pathname, origin } = new URL(address)
      const resource = await read(pathname)
      assert.equal(resource.resource, `${origin}/mcp`)
      assert.deepEqual(resource.authorization_servers, [origin])
      const server = await read('/.well-known/oauth-authorization-server')
      assert.equal(server.issuer, origin)
      assert.deepEqual(server.code_challenge_methods_supported, ['S256'])
      assert.equal(server.authorization_endpoint, `${origin}/app/authorize`)
      assert.equal(server.registration_endpoint, `${origin}/api/oauth/register`)
      const wrong = await mcp('terse_access_unknown')
      assert.match(wrong.headers.get('www-authenticate') ?? '', /error="invalid_token"/)
    })

    test('are shown to the person with what they ask for, and where the answer goes', async () => {
      const { request } = newRequest({ scope: 'links:read links:delete profile' })
      const { body } = expectStatus(await owner.post('/assistants/preview', request), 200)
      assert.deepEqual(body.client, { id: clientId, name: 'Orbit Desktop' })
      assert.deepEqual(body.callback, { kind: 'local', place: '127.0.0.1:33418' })
      assert.deepEqual(body.scopes, ['links:read', 'links:delete'])
      assert.equal(body.refused, null)
      const cancel = new URL(body.cancel).searchParams
      assert.deepEqual([cancel.get('error'), cancel.get('state')], ['access_denied', request.state])
    })

    for (const [what, redirect_uri] of [
      ['another path', 'http://127.0.0.1:33418/other'],
      ['another host', 'https://evil.example/callback'],
      ['a script', 'javascript:alert(1)'],
      ['a fragment', `${CALLBACK}#x`],
    ] as const) {
      test(`are refused, and the browser sent nowhere, with ${what} as their address`, async () => {
        const { request } = newRequest({ redirect_uri })
        const answer = await owner.post('/assistants/preview', request)
        expectProblem(answer, 'validation_failed', ['redirect_uri'])
        const body = { request, workspace_id: workspaceId, scopes: ['links:read'] }
        expectProblem(await owner.post('/assistants', body), 'validation_failed', ['redirect_uri'])
      })
    }

    for (const [changes, error] of [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ code_challenge: 'short' }, 'invalid_request'],
      [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
      [{ scope: 'everything' }, 'invalid_scope'],
    ] as const) {
      test(`get the answer ${error} for ${JSON.stringify(changes)}`, async () => {
        const { request } = newRequest(changes)
        const { body } = expectStatus(await owner.post('/assistants/preview', request), 200)
        assert.equal(new URL(body.refused).searchParams.get('error'), error)
        const wanted = { request, workspace_id: workspaceId, scopes: ['links:read'] }
        expectProblem(await owner.post('/assistants', wanted), 'validation_failed', ['request'])
      })
    }

    test('register with what is safe to send a code to', async () => {
      for (const redirect_uri of ['http://example.com/', 'javascript:alert(1)', 'data:x,y', '/x']) {
        const body = { redirect_uris: [redirect_uri] }
        const answer = await post('/api/oauth/register', body, 'json')
        assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_redirect_uri'])
      }
      const secret = { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'client_secret_post' }
      const answer = await post('/api/oauth/register', secret, 'json')
      assert.equal(answer.body.error, 'invalid_client_metadata')
      await register({ redirect_uris: ['cursor://anysphere.cursor/callback'] })
    })

    test('are called after their address for answers when their name shows nothing', async () => {
      for (const [redirect_uri, name] of [
        ['https://a.example/callback', 'a.example'],
        ['com.example.app:/callback', 'com.example.app'],
      ]) {
        // The names have no letter that is seen.
        const body = { redirect_uris: [redirect_uri], client_name: '\u3164 \u2800\u200b' }
        const answer = await post('/api/oauth/register', body, 'json')
        assert.equal(answer.body.client_name, name)
      }
    })

    for (const [path, body] of [
      ['token', { grant_type: 'refresh_token', client_id: 'x', refresh_token: 1 }],
      ['token', { grant_type: ['refresh_token'], client_id: 'x', refresh_token: 'x' }],
      ['token', []],
      ['revoke', { token: {} }],
      ['revoke', { token: null }],
    ] as const) {
      test(`get invalid_request for ${JSON.stringify(body)} at ${path}`, async () => {
        const answer = await post(`/api/oauth/${path}`, body, 'json')
        assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_request'])
      })
    }

    test('work in the name of the person, with what was allowed and no more', async () => {
      const { access_token } = await connect()
      const { body, headers } = await mcp(access_token)
      assert.equal(headers.get('cache-control'), 'no-store')
      const names = body.result.tools.map(({ name }: { name: string }) => name)
      assert.ok(names.includes('create_link'))
      assert.ok(!names.includes('delete_link'))
      assert.ok(!names.includes('get_clicks'))
      const created = await call(access_token, 'create_link', {
        ...{ url: 'https://example.com/', domain: 'localhost', key: `mine-${engine.name}` },
      })
      assert.equal(created.isError, undefined, created.content[0].text)
      const { id } = JSON.parse(created.content[0].text)
      const { body: events } = await owner.get('/events?type=link.created')
      const event = events.data.find((each: { subject_id: string }) => each.subject_id === id)
      assert.equal(event.actor.name, 'Ada Lovelace (Orbit Desktop)')
      const answer = await fetch(`${service.baseUrl}/api/v1/links`, {
        headers: { authorization: `Bearer ${access_token}` },
      })
      assert.equal(answer.status, 401, 'the token is for /mcp alone')
    })

    test('may do no more than the person may', async () => {
      const viewer = await invite(service, owner, `viewer-${engine.name}`, 'viewer')
      const { access_token } = await connect(viewer, { scopes: ['links:read', 'links:write'] })
      const { body } = await mcp(access_token)
      const names = body.result.tools.map(({ name }: { name: string }) => name)
      assert.ok(!names.includes('create_link'))
    })

    test('lose access when the person is removed, and do not get it back', async () => {
      const name = `leaver-${engine.name}`
      const leaver = await invite(service, owner, name)
      const { access_token, refresh_token } = await connect(leaver)
      const { id } = (await leaver.get('/session')).body.person
      assert.equal((await mcp(access_token)).status, 200)
      expectStatus(await owner.delete(`/members/${id}`), 200)
      assert.equal((await mcp(access_token)).status, 401)
      assert.equal((await refresh(refresh_token)).body.error, 'invalid_grant')
      const { body } = expectStatus(
        await owner.post('/invitations', { email: `${name}@example.com`, role: 'member' }),
        201,
      )
      const code = new URL(body.url).hash.replace('#code=', '')
      expectStatus(
        await leaver.post('/invitations/accept', { code, password: 'another horse battery' }),
        201,
      )
      assert.equal((await mcp(access_token)).status, 401)
    })

    test('end with a link for a new password: who had the old one may have allowed them', async () => {
      const member = await invite(service, owner, `reset-${engine.name}`)
      const { access_token, refresh_token } = await connect(member)
      const { id } = (await member.get('/session')).body.person
      expectStatus(await owner.post('/session/authenticate', { password: PASSWORD }), 200)
      const { body } = expectStatus(await owner.post(`/members/${id}/password-reset`), 201)
      const code = new URL(body.url).hash.replace('#code=', '')
      const changed = { code, password: 'another horse battery staple' }
      expectStatus(await personClient(service).post('/password-resets/complete', changed), 200)
      assert.equal((await mcp(access_token)).status, 401)
      assert.equal((await refresh(refresh_token)).body.error, 'invalid_grant')
    })

    test('exchange a code once; the second time ends all', async () => {
      const { code, verifier } = await allow()
      const { body } = await exchange(code, verifier)
      assert.equal((await mcp(body.access_token)).status, 200)
      assert.equal((await exchange(code, verifier)).body.error, 'invalid_grant')
      assert.equal((await mcp(body.access_token)).status, 401)
    })

    test('exchange a code that comes twice at the same moment once, and then nothing', async () => {
      const { code, verifier } = await allow()
      const answers = await Promise.all([exchange(code, verifier), exchange(code, verifier)])
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 400])
      const access = answers.find(({ status }) => status === 200)?.body.access_token
      assert.equal((await mcp(access)).status, 401)
    })

    if (engine.name === 'PostgreSQL') {
      test('refresh while their person is removed, in the same order of locks', async () => {
        const leaver = await invite(service, owner, 'concurrent')
        const { refresh_token } = await connect(leaver)
        const { id } = (await leaver.get('/session')).body.person
        let refreshing: Promise<{ body: Body }> | undefined
        await service.instance.store.write(async ({ memberships, assistants }) => {
          await memberships.delete(workspaceId, id)
          refreshing ??= refresh(refresh_token)
          await expectWaitWithoutSecret()
          await assistants.deleteLost(id)
        })
        assert.equal((await refreshing)?.body.error, 'invalid_grant')
      })
    }

    /** Waits until a transaction waits for another. It must have locked no secret: the other would wait for it too. */
    async function expectWaitWithoutSecret(): Promise<void> {
      const client = new pg.Client(service.place.databaseUrl)
      await client.connect()
      for (let isAwaited = false; !isAwaited; ) {
        const { rows } = await client.query(`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`)
        isAwaited = rows.length > 0
      }
      await client.query('select 1 from assistant_secrets for update nowait')
      await client.end()
    }

    for (const [what, changes] of [
      ['another verifier', { code_verifier: randomBytes(32).toString('base64url') }],
      ['another address', { redirect_uri: 'http://127.0.0.1:1/callback' }],
      ['another program', { client_id: 'https://evil.example/client.json' }],
      ['no verifier', { code_verifier: '' }],
    ] as const) {
      test(`get nothing for a code with ${what}`, async () => {
        const { code, verifier } = await allow()
        const { status, body } = await exchange(code, verifier, changes)
        assert.deepEqual([status, body.error], [400, 'invalid_grant'])
        assert.equal((await exchange(code, verifier)).status, 200, 'the code still works')
      })
    }

    test('get nothing for a code after five minutes', async () => {
      const { code, verifier } = await allow()
      clock.move(5 * MINUTE)
      assert.equal((await exchange(code, verifier)).body.error, 'invalid_grant')
    })

    test('refresh their tokens; a copied one ends all', async () => {
      const { refresh_token, access_token } = await connect()
      const first = await refresh(refresh_token)
      assert.equal(first.status, 200)
      // The answer was lost.
      const again = await refresh(refresh_token)
      assert.equal(again.status, 200)
      clock.move(31)
      assert.equal((await refresh(refresh_token)).body.error, 'invalid_grant')
      for (const token of [access_token, first.body.access_token, again.body.access_token]) {
        assert.equal((await mcp(token)).status, 401)
      }
    })

    test('keep few of the refresh tokens that they have used', async () => {
      const { store } = service.instance
      const { id, refresh_token } = await connect()
      const tokens = [refresh_token]
      for (let nth = 0; nth < 4; nth += 1) {
        tokens.push((await refresh(tokens.at(-1) ?? '')).body.refresh_token)
        clock.move(MINUTE)
      }
      await store.write(({ assistants }) => assistants.trimRefreshes(id, 2))
      const hashes = tokens.map((token) => createHash('sha256').update(token).digest('hex'))
      const found = await Promise.all(
        hashes.map((hash) => store.read.assistants.findSecret('refresh', hash)),
      )
      assert.deepEqual(
        found.map((each) => each !== undefined),
        [false, false, false, true, true],
      )
    })

    test('are refused with an access token after an hour', async () => {
      const { access_token, refresh_token } = await connect()
      clock.move(HOUR)
      assert.equal((await mcp(access_token)).status, 401)
      const { body } = await refresh(refresh_token)
      assert.equal((await mcp(body.access_token)).status, 200)
    })

    test('are allowed by people who have authenticated within the last minutes', async () => {
      clock.move(HOUR)
      const { request } = newRequest()
      const body = { request, workspace_id: workspaceId, scopes: ['links:read'] }
      expectProblem(await owner.post('/assistants', body), 'authentication_required')
      await connect()
    })

    test('end on the day that the person has set', async () => {
      const { refresh_token } = await connect(owner, { days: 1 })
      clock.move(DAY)
      assert.equal((await refresh(refresh_token)).body.error, 'invalid_grant')
    })

    test('are listed, and withdrawn by their person or an admin', async () => {
      const member = await invite(service, owner, `member-${engine.name}`)
      const { id, access_token } = await connect(member)
      const own = expectStatus(await member.get('/assistants'), 200).body.data
      assert.deepEqual(
        own.map((each: { id: string }) => each.id),
        [id],
      )
      const other = await invite(service, owner, `other-${engine.name}`)
      assert.deepEqual(expectStatus(await other.get('/assistants'), 200).body.data, [])
      expectStatus(await other.delete(`/assistants/${id}`), 404)
      expectStatus(await owner.delete(`/assistants/${id}`), 200)
      assert.equal((await mcp(access_token)).status, 401)
      const { body } = await owner.get('/events?type=assistant.withdrawn')
      assert.equal(body.data[0].subject_id, id)
    })

    test('end by their own request', async () => {
      const { access_token, refresh_token } = await connect()
      assert.equal((await post('/api/oauth/revoke', { token: refresh_token })).status, 200)
      assert.equal((await mcp(access_token)).status, 401)
      assert.equal((await post('/api/oauth/revoke', { token: 'unknown' })).status, 200)
    })

    test('do not connect to a workspace that has switched them off', async () => {
      const { access_token } = await connect()
      const token = await service.token('acme')
      expectStatus(await owner.put('/assistants/settings', { enabled: false }), 200)
      for (const each of [access_token, token]) assert.equal((await mcp(each)).status, 403)
      const { request } = newRequest()
      const body = { request, workspace_id: workspaceId, scopes: ['links:read'] }
      expectStatus(await owner.post('/assistants', body), 403)
      expectStatus(await owner.put('/assistants/settings', { enabled: true }), 200)
      for (const each of [access_token, token]) assert.equal((await mcp(each)).status, 200)
    })

    test('are allowed into a workspace whose identifier has capitals', async () => {
      await connect()
      const { request } = newRequest()
      const body = { request, workspace_id: workspaceId.toUpperCase(), scopes: ['links:read'] }
      expectStatus(await owner.post('/assistants', body), 201)
    })

    test('are not allowed into a workspace of others', async () => {
      await connect()
      await service.token('globex')
      const globex = await service.instance.workspaces.get('globex')
      const { request } = newRequest()
      const body = { request, workspace_id: globex.id, scopes: ['links:read'] }
      expectStatus(await owner.post('/assistants', body), 404)
    })

    test('are not allowed by a token', async () => {
      const token = await service.token('acme')
      const { request } = newRequest()
      const response = await fetch(`${service.baseUrl}/api/v1/assistants`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ request, workspace_id: workspaceId, scopes: ['links:read'] }),
      })
      assert.equal(response.status, 403)
    })

    test('send one message in each request: a batch would count as one', async () => {
      const token = await service.token('acme')
      for (const body of ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', '[]', '{']) {
        const response = await fetch(`${service.baseUrl}/mcp`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
          },
          body,
        })
        const { error } = (await response.json()) as Body
        assert.deepEqual([response.status, error.code], [400, body === '{' ? -32700 : -32600])
      }
    })

    test('are not reached by pages of other sites', async () => {
      const token = await service.token('acme')
      const response = await fetch(`${service.baseUrl}/mcp`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, origin: 'https://evil.example' },
        body: '{}',
      })
      assert.equal(response.status, 403)
    })
  })
}
