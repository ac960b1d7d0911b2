import { hash, timingSafeEqual } from 'node:crypto'
import {
  ASSISTANT_SCOPES,
  type AssistantPreview,
  type AssistantScope,
  type AuthorizationRequest,
} from '@terse/contract/assistants'
import { EXTENSION_ID } from '@terse/contract/extension-client'
import {
  type ActingStores,
  type Actor,
  findActor,
  hashSecret,
  type MakerStores,
  requireActor,
} from '../identity/index.ts'
import { isUuid, type Random, uuidV7 } from '../platform/crypto/random.ts'
import { Failure } from '../platform/failure.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type EventWriter, INSTANCE } from '../storage/event-log.ts'
import type { Store } from '../storage/store.ts'
import {
  type Assistant,
  assistantActor,
  assistantEvent,
  DAY_MICROS,
  newSecret,
  SECRETS,
  type SecretKind,
} from './assistant.ts'
import type { AssistantStore, FoundSecret, NamedAssistant } from './assistant-store.ts'
import { type Client, type Clients, callbackOf, isCallbackOf } from './clients.ts'

/** Where the endpoint is, below the address of the service. */
export const MCP_PATH = '/mcp'

const ASSISTANTS_MAX = 50
const DAYS_USUAL = 90
/** What a program gets that asks for nothing in particular. */
const USUAL_SCOPES: readonly AssistantScope[] = ['links:read', 'clicks:read', 'links:write']
/** SHA-256 in base64url (RFC 7636, section 4.2). */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/
/** How exact `last_used_at` is. */
const USE_RESOLUTION_MICROS = 60 * 1_000_000
/** A program whose answer was lost sends its refresh token again. */
const REPEAT_MICROS = 30 * 1_000_000
/** Used ones are kept to know them again. A program that refreshes once an hour comes to this in three weeks. */
const REFRESHES_KEPT = 500

type AssistantStores = ActingStores &
  MakerStores & {
    readonly assistants: AssistantStore
    readonly events: EventWriter
  }

type Dependencies = {
  readonly store: Store<AssistantStores>
  readonly clock: Clock
  readonly random: Random
  readonly clients: Clients
  readonly baseUrl: string
  /** Told when the last use could not be written, which fails no request. */
  readonly onError: (error: unknown) => void
}

/** An answer of the token endpoint (RFC 6749, section 5.1). */
export type IssuedTokens = {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly refresh_token: string
  readonly scope: string
}

/** Why the token endpoint gives none (RFC 6749, section 5.2; RFC 8707, section 2). */
export type TokenRefusal = {
  readonly error: 'invalid_grant' | 'invalid_target'
  readonly error_description: string
}

export type CodeRequest = {
  readonly code: string
  readonly clientId: string
  readonly redirectUri: string
  readonly verifier: string
  readonly resource: string | undefined
}

export type RefreshRequest = {
  readonly refreshToken: string
  readonly clientId: string
  readonly resource: string | undefined
}

/** The operations on programs that work in the name of people: OAuth 2.1 with PKCE, for public clients. */
export class Assistants {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** The address of the endpoint, which is the audience of access tokens. */
  get resource(): string {
    return this.#deps.baseUrl + MCP_PATH
  }

  /**
   * Reads what a program asks for.
   *
   * @throws {Failure} `validation_failed` when the browser must not be sent back: the program, or its address for
   *   answers, is not known
   */
  async preview(personId: string, request: AuthorizationRequest): Promise<AssistantPreview> {
    const client = await this.#clientOf(personId, request)
    const fault = this.#faultOf(request)
    return {
      client: { id: client.id, name: client.name },
      callback: callbackOf(client, request.redirect_uri),
      scopes: [...scopesOf(request)],
      refused: fault === undefined ? null : this.#answer(request, fault),
      cancel: this.#answer(request, { error: 'access_denied' }),
    }
  }

  /**
   * Lets a program work in the name of a person, and returns the address with the code that it exchanges for tokens.
   *
   * @throws {Failure} as `preview` and `requireActor`; `not_found` for a workspace of which the person is no member;
   *   `missing_role` where assistants are switched off
   */
  async allow(
    actor: Actor,
    input: {
      readonly request: AuthorizationRequest
      readonly workspaceId: string
      readonly scopes: readonly AssistantScope[]
      readonly days?: number | undefined
    },
  ): Promise<NamedAssistant & { readonly redirectTo: string }> {
    const { store, clock, random } = this.#deps
    const { request, workspaceId, days = DAYS_USUAL } = input
    const personId = actor.id ?? ''
    const client = await this.#clientOf(personId, request)
    if (this.#faultOf(request) !== undefined) {
      throw Failure.invalid({ request: [{ code: 'invalid' }] })
    }
    const code = newSecret('code', random)
    const now = clock.nowMicros()
    const assistant: Assistant = {
      id: uuidV7(clock, random),
      workspace_id: workspaceId,
      person_id: personId,
      client_id: client.id,
      client_name: client.name,
      scopes: ASSISTANT_SCOPES.filter((scope) => input.scopes.includes(scope)),
      created_at: now,
      expires_at: now + days * DAY_MICROS,
      last_used_at: null,
    }
    const person = await store.write(async (stores) => {
      const acting = { nowMicros: now, workspacesOf: async () => [workspaceId] }
      await requireActor(stores, actor, 'assistants.create', acting)
      const member = await memberOf(stores, assistant, now)
      if (member === undefined) throw Failure.notFound(`Workspace "${workspaceId}"`)
      // The extension uses the API, as the dashboard does.
      if (client.id !== EXTENSION_ID) await requireEnabled(stores, workspaceId)
      if ((await stores.assistants.count(workspaceId, personId)) >= ASSISTANTS_MAX) {
        throw Failure.invalid({
          workspace_id: [{ code: 'limit_reached', reason: 'assistants', max: ASSISTANTS_MAX }],
        })
      }
      await stores.assistants.insert(assistant)
      await stores.assistants.insertSecret({
        ...stored('code', code, assistant, now),
        redirect_uri: request.redirect_uri,
        challenge: request.code_challenge ?? null,
      })
      const author = { ...member, requestId: actor.requestId }
      await stores.events.append(author, assistantEvent('assistant.allowed', assistant), now)
      return member
    })
    return { assistant, personName: person.name, redirectTo: this.#answer(request, { code }) }
  }

  /** Returns those of the actor, and to those who manage tokens those of all. */
  list(actor: Actor): Promise<readonly NamedAssistant[]> {
    return this.#deps.store.read.assistants.list(actor.workspaceId, ownerFor(actor, 'tokens.view'))
  }

  /**
   * Ends what a person allowed: one's own, or of all for those who manage tokens.
   *
   * @throws {Failure} `not_found`; as `requireActor`
   */
  async withdraw(actor: Actor, id: string): Promise<void> {
    const { store, clock } = this.#deps
    const notFound = Failure.notFound('Assistant')
    if (!isUuid(id)) throw notFound
    await store.write(async (stores) => {
      const now = clock.nowMicros()
      const current = await requireActor(stores, actor, 'assistants.delete', { nowMicros: now })
      const owner = ownerFor(current, 'tokens.edit')
      const gone = await stores.assistants.delete(actor.workspaceId, id, owner)
      if (gone === undefined) throw notFound
      await stores.events.append(current, assistantEvent('assistant.withdrawn', gone), now)
    })
  }

  async settings({ workspaceId }: Actor): Promise<{ enabled: boolean; address: string }> {
    const enabled = await this.#deps.store.read.assistants.isEnabled(workspaceId)
    return { enabled, address: this.resource }
  }

  /** Switches the endpoint off or on for the workspace. What people allowed stays, and works when it is on again. */
  async enable(actor: Actor, enabled: boolean): Promise<{ enabled: boolean; address: string }> {
    const { store, clock } = this.#deps
    const { workspaceId } = actor
    await store.write(async (stores) => {
      const now = clock.nowMicros()
      const current = await requireActor(stores, actor, 'assistants.updateSettings', {
        nowMicros: now,
      })
      const before = await stores.assistants.isEnabled(workspaceId)
      if (before === enabled) return
      await stores.assistants.enable(workspaceId, enabled)
      const fields = { before: { assistants: before }, after: { assistants: enabled } }
      const event = { type: 'workspace.updated', subjectId: workspaceId, ...fields } as const
      await stores.events.append(current, event, now)
    })
    return { enabled, address: this.resource }
  }

  /** Exchanges a code for tokens. A code that comes twice has been read by others: it ends all (RFC 6749, 4.1.2). */
  exchange(request: CodeRequest): Promise<IssuedTokens | TokenRefusal> {
    if (!this.#isOurs(request.resource)) return Promise.resolve(wrongTarget())
    return this.#use('code', request.code, ({ secret, assistant }) => {
      if (assistant.client_id !== request.clientId) return false
      if (secret.redirect_uri !== request.redirectUri) return false
      return isVerified(secret.challenge ?? '', request.verifier)
    })
  }

  /** Exchanges a refresh token for new tokens. One that was used before has been copied: it ends all. */
  refresh(request: RefreshRequest): Promise<IssuedTokens | TokenRefusal> {
    if (!this.#isOurs(request.resource)) return Promise.resolve(wrongTarget())
    return this.#use('refresh', request.refreshToken, ({ assistant }) => {
      return assistant.client_id === request.clientId
    })
  }

  /** Ends what the token of a program stands for, as its owner asks (RFC 7009). An unknown token changes nothing. */
  async revoke(token: string): Promise<void> {
    const { store, clock } = this.#deps
    const secretHash = hashSecret(token)
    await store.write(async (stores) => {
      const found =
        (await stores.assistants.findSecret('refresh', secretHash)) ??
        (await stores.assistants.findSecret('access', secretHash))
      if (found === undefined) return
      const now = clock.nowMicros()
      const { assistant } = found
      await end(stores, { assistant, person: await memberOf(stores, assistant, now) }, now)
    })
  }

  /**
   * Returns who a program is that sends an access token, with the rights that the person has now. That of the browser
   * extension is for the API, all others are for MCP.
   *
   * @throws {Failure} `unauthorized`, also for the token of the other
   */
  async authenticate(token: string, audience: 'api' | 'mcp'): Promise<Actor> {
    const { store, clock } = this.#deps
    const { read } = store
    const now = clock.nowMicros()
    const found = await read.assistants.findSecret('access', hashSecret(token))
    if (found === undefined) throw Failure.unauthorized({ code: 'invalid_token' })
    const { secret, assistant } = found
    if ((assistant.client_id === EXTENSION_ID) !== (audience === 'api')) {
      throw Failure.unauthorized({ code: 'invalid_token' })
    }
    if (Math.min(secret.expires_at, assistant.expires_at) <= now) {
      throw Failure.unauthorized({ code: 'expired_token' })
    }
    const person = await memberOf(read, assistant, now, false)
    if (person === undefined) throw Failure.unauthorized({ code: 'invalid_token' })
    if (now - (assistant.last_used_at ?? 0) >= USE_RESOLUTION_MICROS) {
      store
        .write((stores) => stores.assistants.noteUse(assistant.id, now))
        .catch(this.#deps.onError)
    }
    return assistantActor(person, assistant)
  }

  /** @throws {Failure} `missing_role` where the workspace has switched it off */
  requireEnabled({ workspaceId }: Actor): Promise<void> {
    return requireEnabled(this.#deps.store.read, workspaceId)
  }

  async #clientOf(personId: string, request: AuthorizationRequest): Promise<Client> {
    const client = await this.#deps.clients.find(request.client_id, personId)
    if (isCallbackOf(client, request.redirect_uri)) return client
    throw Failure.invalid({ redirect_uri: [{ code: 'foreign_callback' }] })
  }

  /** Why a request is refused, for an answer to its program (RFC 6749, section 4.1.2.1). */
  #faultOf(request: AuthorizationRequest) {
    const invalid = (text: string) => ({ error: 'invalid_request', error_description: text })
    if (request.response_type !== 'code') return { error: 'unsupported_response_type' }
    if (request.code_challenge_method !== 'S256') {
      return invalid('code_challenge_method must be S256')
    }
    if (!CHALLENGE.test(request.code_challenge ?? '')) {
      return invalid('code_challenge must be a SHA-256 in base64url')
    }
    if (!this.#isOurs(request.resource)) return { error: 'invalid_target' }
    return scopesOf(request).length === 0 ? { error: 'invalid_scope' } : undefined
  }

  #isOurs(resource: string | undefined): boolean {
    if (resource === undefined) return true
    const asked = resource.replace(/\/$/, '')
    return asked === this.resource || asked === this.#deps.baseUrl
  }

  /** With the issuer, by which a program knows whose answer it is (RFC 9207). */
  #answer(
    { client_id, redirect_uri, state }: AuthorizationRequest,
    parameters: Readonly<Record<string, string>>,
  ): string {
    const url = new URL(redirect_uri)
    const isExtension = client_id === EXTENSION_ID
    const answer = isExtension ? new URLSearchParams() : url.searchParams
    for (const [name, value] of Object.entries(parameters)) answer.set(name, value)
    if (state !== undefined) answer.set('state', state)
    answer.set('iss', this.#deps.baseUrl)
    // The browser sends no fragment: the code stays out of the logs of proxies, as the extension reads it in the address.
    if (isExtension) url.hash = answer.toString()
    return url.href
  }

  async #use(
    kind: 'code' | 'refresh',
    text: string,
    isRight: (found: FoundSecret) => boolean,
  ): Promise<IssuedTokens | TokenRefusal> {
    const { store, clock, random } = this.#deps
    const secretHash = hashSecret(text)
    return store.write(async (stores) => {
      const now = clock.nowMicros()
      const found = await stores.assistants.findSecret(kind, secretHash)
      if (found === undefined || !isRight(found)) return wrongGrant()
      const { secret, assistant } = found
      // The member, the assistant, its secrets: in this order, who removes one locks them too.
      const person = await memberOf(stores, assistant, now)
      if (person === undefined || !(await stores.assistants.lock(assistant.id))) return wrongGrant()
      const isFirst = await stores.assistants.useSecret(secretHash, now)
      if (!isFirst && !isRepetition(kind, secret.used_at ?? now, now)) {
        await end(stores, { assistant, person }, now)
        return wrongGrant()
      }
      if (Math.min(secret.expires_at, assistant.expires_at) <= now) return wrongGrant()
      const access = newSecret('access', random)
      const refresh = newSecret('refresh', random)
      await stores.assistants.insertSecret(stored('access', access, assistant, now))
      await stores.assistants.trimRefreshes(assistant.id, REFRESHES_KEPT - 1)
      await stores.assistants.insertSecret(stored('refresh', refresh, assistant, now))
      return {
        access_token: access,
        token_type: 'Bearer' as const,
        expires_in: SECRETS.access.lifetimeMicros / 1_000_000,
        refresh_token: refresh,
        scope: assistant.scopes.join(' '),
      }
    })
  }
}

/** The person as a member of the workspace; undefined where the right to allow it has ended. */
function memberOf(
  stores: MakerStores,
  { person_id, workspace_id }: Assistant,
  nowMicros: number,
  isUse = true,
): Promise<Actor | undefined> {
  const maker = { kind: 'person', id: person_id, name: '', workspaceId: workspace_id } as const
  return findActor(stores, maker, { nowMicros, isUse })
}

/** Ends what a person allowed, in the person's name: their program did it, or a copy of its secret. */
async function end(
  stores: AssistantStores,
  { assistant, person }: { readonly assistant: Assistant; readonly person: Actor | undefined },
  now: number,
): Promise<void> {
  const { id, workspace_id, person_id } = assistant
  if ((await stores.assistants.delete(workspace_id, id, person_id)) === undefined) return
  if (person === undefined) return
  const author = assistantActor(person, assistant)
  await stores.events.append(author, assistantEvent('assistant.withdrawn', assistant), now)
}

async function requireEnabled(
  { assistants }: Pick<AssistantStores, 'assistants'>,
  workspaceId: string,
): Promise<void> {
  if (await assistants.isEnabled(workspaceId)) return
  throw Failure.missingRole({ code: 'assistants_off' })
}

function stored(kind: SecretKind, text: string, { id, expires_at }: Assistant, now: number) {
  const lifetime = SECRETS[kind].lifetimeMicros
  return {
    ...{ hash: hashSecret(text), assistant_id: id, kind },
    expires_at: Math.min(expires_at, now + lifetime),
    ...{ used_at: null, redirect_uri: null, challenge: null },
  }
}

function isRepetition(kind: 'code' | 'refresh', usedAt: number, now: number): boolean {
  return kind === 'refresh' && now - usedAt <= REPEAT_MICROS
}

/** What it asks for of what can be given; the usual where it asks for nothing. */
function scopesOf({ scope }: AuthorizationRequest): readonly AssistantScope[] {
  const asked = (scope ?? '').split(' ').filter((each) => each !== '')
  return asked.length === 0 ? USUAL_SCOPES : ASSISTANT_SCOPES.filter((each) => asked.includes(each))
}

function isVerified(challenge: string, verifier: string): boolean {
  if (!VERIFIER.test(verifier) || !CHALLENGE.test(challenge)) return false
  const digest = hash('sha256', verifier, 'buffer')
  return timingSafeEqual(digest, Buffer.from(challenge, 'base64url'))
}

/**
 * Whose assistants the actor may see or end; undefined for those of all members. A token has none of its own, and the
 * extension has none of its person.
 */
function ownerFor(
  { permissions, id, sessionId }: Actor,
  permission: 'tokens.view' | 'tokens.edit',
): string | undefined {
  if (permissions.has(permission)) return undefined
  return (sessionId === null ? null : id) ?? INSTANCE
}

function wrongGrant(): TokenRefusal {
  return {
    error: 'invalid_grant',
    error_description: 'It is unknown, used or expired, or was given to another program.',
  }
}

function wrongTarget(): TokenRefusal {
  return { error: 'invalid_target', error_description: 'There is no such resource here.' }
}
