import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  Client,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { type PersonClient, setUp } from '../support/person-client.ts'
import { type Service, startService } from '../support/service.ts'

const CALLBACK = 'http://127.0.0.1:33418/callback'
const HOUR = 60 * 60

/** What an assistant keeps, in memory. */
class Keeper implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK
  readonly clientMetadata = {
    client_name: 'Orbit Desktop',
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: 'none',
  }
  asked: URL | undefined
  #information: StoredOAuthClientInformation | undefined
  #tokens: StoredOAuthTokens | undefined
  #verifier = ''

  clientInformation = () => this.#information
  tokens = () => this.#tokens
  codeVerifier = () => this.#verifier
  saveClientInformation = (information: StoredOAuthClientInformation) => {
    this.#information = information
  }
  saveTokens = (tokens: StoredOAuthTokens) => {
    this.#tokens = tokens
  }
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier
  }
  /** Its refresh token was refused. */
  invalidateCredentials = () => {
    this.#tokens = undefined
  }
  redirectToAuthorization = (url: URL) => {
    this.asked = url
  }
}

describe('the official client of MCP', () => {
  let service: Service
  let owner: PersonClient
  let clock: FakeClock
  before(async () => {
    clock = fakeClock()
    service = await startService(SQLITE, { TERSE_OAUTH_REGISTRATION: 'on' }, { clock })
    await service.token('acme')
    owner = await setUp(service)
  })
  after(() => service.stop())

  test('finds its way to the consent of a person, refreshes its tokens, and asks again after the end', async () => {
    const keeper = new Keeper()
    const address = new URL(`http://localhost:${service.port}/mcp`)
    const transport = () => new StreamableHTTPClientTransport(address, { authProvider: keeper })
    const connect = async () => {
      const client = new Client({ name: 'orbit', version: '1.0.0' })
      await client.connect(transport())
      const { tools } = await client.listTools()
      await client.close()
      return tools.length
    }

    await assert.rejects(connect, UnauthorizedError)
    const { searchParams, pathname } = keeper.asked ?? new URL('http://none')
    assert.equal(pathname, '/app/authorize')
    const { memberships } = (await owner.get('/session')).body
    const decision = {
      request: Object.fromEntries(searchParams),
      workspace_id: memberships[0].workspace_id,
      scopes: ['links:read'],
    }
    const { body } = expectStatus(await owner.post('/assistants', decision), 201)
    await transport().finishAuth(new URL(body.redirect_to).searchParams)
    assert.equal(await connect(), 6)

    clock.move(HOUR)
    assert.equal(await connect(), 6, 'with a refreshed token')

    expectStatus(
      await owner.delete(`/assistants/${body.id}`, {
        'terse-workspace': memberships[0].workspace_id,
      }),
      200,
    )
    await assert.rejects(connect, UnauthorizedError)
  })
})
