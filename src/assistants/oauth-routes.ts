import { ASSISTANT_SCOPES } from '@terse/contract/assistants'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply } from 'fastify'
import { addressOf } from '../platform/http/forwarded.ts'
import type { Throttle } from '../platform/limits/throttle.ts'
import { type Networks, subscriberOf } from '../platform/network/ip-address.ts'
import { type Assistants, type IssuedTokens, MCP_PATH, type TokenRefusal } from './assistants.ts'
import type { Clients } from './clients.ts'

/** Requests of one address for tokens, or to register. */
export const OAUTH_LIMITS = { limit: 60, windowSeconds: 60, keysMax: 100_000 } as const

const BODY_BYTES_MAX = 16 * 1024
const AUTHORIZE_PAGE = '/app/authorize'
const TOKEN_PATH = '/api/oauth/token'
const REVOKE_PATH = '/api/oauth/revoke'
const REGISTER_PATH = '/api/oauth/register'
const RESOURCE_METADATA = '/.well-known/oauth-protected-resource'
const SERVER_METADATA = '/.well-known/oauth-authorization-server'

export type OAuthDependencies = {
  readonly assistants: Assistants
  readonly clients: Clients
  /** Whether programs may register themselves. */
  readonly registersClients: boolean
  /** For `OAUTH_LIMITS`. */
  readonly oauthThrottle: Throttle
  readonly trustedProxies: Networks
  readonly baseUrl: string
}

/** The value of `WWW-Authenticate` by which a program finds where it may ask (RFC 9728, section 5.1). */
export function challengeOf(baseUrl: string, error?: string): string {
  const said = error === undefined ? '' : `error="${error}", `
  return `Bearer ${said}resource_metadata="${baseUrl}${RESOURCE_METADATA}${MCP_PATH}"`
}

/** The endpoints of OAuth that programs call, and the documents in which they find them. */
export const oauthRoutes: FastifyPluginAsync<OAuthDependencies> = async (app, deps) => {
  registerDocuments(app, deps)
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body as string))),
  )
  app.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'POST') return
    const { oauthThrottle, trustedProxies } = deps
    const verdict = oauthThrottle.take(subscriberOf(addressOf(request.raw, trustedProxies)))
    if (verdict.allowed) return
    reply.header('Retry-After', String(verdict.resetSeconds))
    return refuse(reply, 429, 'temporarily_unavailable', 'Too many requests. Try again later.')
  })
  registerTokens(app, deps)
  if (deps.registersClients) registerRegistration(app, deps)
}

function registerDocuments(app: FastifyInstance, deps: OAuthDependencies): void {
  const schema = { hide: true }
  const open = { 'Access-Control-Allow-Origin': '*' }
  for (const path of [RESOURCE_METADATA, RESOURCE_METADATA + MCP_PATH]) {
    app.get(path, { schema }, (_request, reply) => reply.headers(open).send(resourceOf(deps)))
  }
  app.get(SERVER_METADATA, { schema }, (_request, reply) =>
    reply.headers(open).send(serverOf(deps)),
  )
}

/** RFC 9728. */
function resourceOf({ baseUrl, assistants }: OAuthDependencies) {
  return {
    resource: assistants.resource,
    authorization_servers: [baseUrl],
    scopes_supported: ASSISTANT_SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Terse',
    resource_documentation: `${baseUrl}/docs`,
  }
}

/** RFC 8414. */
function serverOf({ baseUrl, registersClients }: OAuthDependencies) {
  return {
    issuer: baseUrl,
    authorization_endpoint: baseUrl + AUTHORIZE_PAGE,
    token_endpoint: baseUrl + TOKEN_PATH,
    revocation_endpoint: baseUrl + REVOKE_PATH,
    ...(registersClients && { registration_endpoint: baseUrl + REGISTER_PATH }),
    scopes_supported: ASSISTANT_SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  }
}

const POST = { bodyLimit: BODY_BYTES_MAX, schema: { hide: true } } as const

function registerTokens(app: FastifyInstance, { assistants }: OAuthDependencies): void {
  app.post(TOKEN_PATH, POST, async (request, reply) => {
    const answer = await tokensFor(assistants, textsOf(request.body))
    if ('access_token' in answer) return reply.header('Pragma', 'no-cache').send(answer)
    return refuse(reply, 400, answer.error, answer.error_description)
  })

  app.post(REVOKE_PATH, POST, async (request, reply) => {
    const { token } = textsOf(request.body)
    if (token === undefined) return refuse(reply, 400, 'invalid_request', 'token is missing.')
    await assistants.revoke(token)
    return reply.send({})
  })
}

type Refusal = Omit<TokenRefusal, 'error'> & { readonly error: string }

async function tokensFor(
  assistants: Assistants,
  form: Readonly<Record<string, string | undefined>>,
): Promise<IssuedTokens | Refusal> {
  const { grant_type, client_id: clientId, resource } = form
  const missing = (name: string) => ({
    error: 'invalid_request',
    error_description: `${name} is missing.`,
  })
  if (grant_type !== 'authorization_code' && grant_type !== 'refresh_token') {
    return {
      error: grant_type === undefined ? 'invalid_request' : 'unsupported_grant_type',
      error_description: 'grant_type must be authorization_code or refresh_token.',
    }
  }
  if (clientId === undefined) return missing('client_id')
  if (grant_type === 'refresh_token') {
    const { refresh_token: refreshToken } = form
    if (refreshToken === undefined) return missing('refresh_token')
    return assistants.refresh({ refreshToken, clientId, resource })
  }
  const { code, redirect_uri: redirectUri, code_verifier: verifier } = form
  if (code === undefined) return missing('code')
  if (redirectUri === undefined) return missing('redirect_uri')
  if (verifier === undefined) return missing('code_verifier')
  return assistants.exchange({ code, clientId, redirectUri, verifier, resource })
}

function registerRegistration(app: FastifyInstance, { clients }: OAuthDependencies): void {
  app.post(REGISTER_PATH, POST, async (request, reply) => {
    const client = await clients.register(request.body)
    if (typeof client === 'string') {
      const fault =
        client === 'invalid_redirect_uri'
          ? 'redirect_uris must be https addresses, addresses on this computer, or of an app.'
          : 'Only public clients can register: token_endpoint_auth_method must be none.'
      return refuse(reply, 400, client, fault)
    }
    return reply.code(201).send({
      client_id: client.id,
      client_id_issued_at: Math.floor(client.createdAt / 1_000_000),
      client_name: client.name,
      redirect_uris: client.redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    })
  })
}

/** The form of an error in OAuth (RFC 6749, section 5.2). */
function refuse(reply: FastifyReply, status: number, error: string, text: string): FastifyReply {
  return reply.code(status).send({ error, error_description: text })
}

/** A body of JSON is taken too, and may have values of other types. */
function textsOf(body: unknown): Readonly<Record<string, string | undefined>> {
  if (typeof body !== 'object' || body === null) return {}
  const texts = Object.entries(body).filter(([, value]) => typeof value === 'string')
  return Object.fromEntries(texts)
}
