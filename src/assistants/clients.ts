import { EXTENSION_ID, EXTENSION_PAGE } from '@terse/contract/extension-client'
import type { Fault } from '@terse/contract/faults'
import { z } from 'zod'
import { isUuid, type Random, uuidV7 } from '../platform/crypto/random.ts'
import { RefusedAddressError } from '../platform/dns/checked-lookup.ts'
import { Failure } from '../platform/failure.ts'
import { type Agents, guardedAgents, sendRequest } from '../platform/network/outgoing-request.ts'
import { VERSION } from '../platform/process/version.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { FairQueue, FairQueueOptions } from '../platform/work/fair-queue.ts'
import type { Store } from '../storage/store.ts'
import type { AssistantStore } from './assistant-store.ts'

/** A program that asks to be allowed. */
export type Client = {
  readonly id: string
  readonly name: string
  readonly redirectUris: readonly string[]
}

const EXTENSION_NAME = 'Browser extension'

/** Documents of programs are read from other servers. */
export const CLIENT_QUEUE: FairQueueOptions = {
  work: 'documents of programs',
  concurrency: 16,
  concurrencyPerOwner: 2,
  waitingPerOwnerMax: 4,
  waitingMax: 64,
  deadlineMs: 5_000,
}

const DOCUMENT_MS_MAX = 5_000
const DOCUMENT_BYTES_MAX = 64 * 1024
const NAME_LENGTH_MAX = 60
const URIS_MAX = 20
const URI_LENGTH_MAX = 2_000
/** Programs that no person lets work are deleted after a day. */
const CLIENTS_MAX = 10_000

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
/** Schemes that browsers open themselves, and would run or show in our name. */
const FORBIDDEN_SCHEMES = new Set([
  ...['javascript:', 'data:', 'vbscript:', 'blob:', 'file:', 'filesystem:', 'about:'],
  ...['view-source:', 'ws:', 'wss:', 'ftp:', 'mailto:', 'tel:', 'sms:', 'chrome:', 'intent:'],
])

/**
 * What a program says of itself: in its metadata document (draft-ietf-oauth-client-id-metadata-document) or when it
 * registers (RFC 7591, section 2). What we do not use is ignored.
 */
const metadata = z.object({
  client_name: z.string().min(1).optional(),
  redirect_uris: z.array(z.string().max(URI_LENGTH_MAX)).min(1).max(URIS_MAX),
  token_endpoint_auth_method: z.string().optional(),
})

export type RegistrationFault = 'invalid_redirect_uri' | 'invalid_client_metadata'

type ClientStores = { readonly assistants: AssistantStore }

type Dependencies = {
  readonly store: Store<ClientStores>
  readonly clock: Clock
  readonly random: Random
  /** Whether connections to an IP address are allowed. */
  readonly mayReach: (address: string) => boolean
  /** For `CLIENT_QUEUE`. */
  readonly reads: FairQueue
  readonly baseUrl: string
}

/** Finds out who a program says that it is. All are public clients: none keeps a secret with us. */
export class Clients {
  readonly #deps: Dependencies
  readonly #agents: Agents

  constructor(deps: Dependencies) {
    this.#deps = deps
    this.#agents = guardedAgents(deps.mayReach)
  }

  /**
   * @param owner for whom a document may be read
   * @throws {Failure} `validation_failed` when there is no such program, or it cannot be read
   */
  async find(id: string, owner: string): Promise<Client> {
    if (id === EXTENSION_ID) {
      const page = this.#deps.baseUrl + EXTENSION_PAGE
      return { id, name: EXTENSION_NAME, redirectUris: [page] }
    }
    if (isUuid(id)) {
      const found = await this.#deps.store.read.assistants.findClient(id)
      if (found !== undefined) return { ...found, redirectUris: found.redirect_uris }
    }
    const url = URL.parse(id)
    if (url?.protocol !== 'https:' || !isDocumentAddress(url, id)) {
      throw refusal({ code: 'unknown_client' })
    }
    return this.#deps.reads.run(owner, () => this.#read(url))
  }

  /**
   * Registers a program (RFC 7591).
   *
   * @throws {Failure} `rate_limited` when too many are registered
   */
  async register(
    input: unknown,
  ): Promise<(Client & { readonly createdAt: number }) | RegistrationFault> {
    const { store, clock, random } = this.#deps
    const parsed = metadata.safeParse(input)
    if (!parsed.success) {
      const isAboutUris = parsed.error.issues.some(({ path }) => path[0] === 'redirect_uris')
      return isAboutUris ? 'invalid_redirect_uri' : 'invalid_client_metadata'
    }
    const { redirect_uris, token_endpoint_auth_method: method = 'none' } = parsed.data
    if (method !== 'none') return 'invalid_client_metadata'
    if (!redirect_uris.every(isCallback)) return 'invalid_redirect_uri'
    const id = uuidV7(clock, random)
    const name = nameOf(parsed.data, redirect_uris)
    const client = { id, name, redirect_uris, created_at: clock.nowMicros() }
    await store.write(async ({ assistants }) => {
      if ((await assistants.countClients()) >= CLIENTS_MAX) {
        throw Failure.tooMany('Too many programs are registered. Try again tomorrow.')
      }
      await assistants.insertClient(client)
    })
    return { id, name, redirectUris: redirect_uris, createdAt: client.created_at }
  }

  async #read(url: URL): Promise<Client> {
    const { baseUrl } = this.#deps
    const answer = await sendRequest(this.#agents, {
      method: 'GET',
      url,
      headers: { accept: 'application/json', 'user-agent': `Terse/${VERSION} (+${baseUrl})` },
      timeoutMs: DOCUMENT_MS_MAX,
      bodyBytesMax: DOCUMENT_BYTES_MAX,
      signal: new AbortController().signal,
    }).catch((error) => {
      const isRefused = error instanceof RefusedAddressError
      throw refusal({
        code: 'unreadable_client',
        reason: isRefused ? 'address' : 'unreachable',
      })
    })
    if (answer.status !== 200) throw refusal({ code: 'unreadable_client', reason: 'unreachable' })
    const document = parseJson(answer.body)
    const parsed = metadata.extend({ client_id: z.literal(url.href) }).safeParse(document)
    if (!parsed.success || !parsed.data.redirect_uris.every(isCallback)) {
      throw refusal({ code: 'unreadable_client', reason: 'invalid' })
    }
    const { redirect_uris, token_endpoint_auth_method: method = 'none' } = parsed.data
    if (method !== 'none') throw refusal({ code: 'unreadable_client', reason: 'secret' })
    return { id: url.href, name: nameOf(parsed.data, [url.href]), redirectUris: redirect_uris }
  }
}

/** As the draft has it: with a path, without a fragment, user or dot segments, and written as it is compared. */
function isDocumentAddress(url: URL, text: string): boolean {
  const { pathname, hash, username, password } = url
  return url.href === text && pathname !== '/' && hash + username + password === ''
}

/** What URIs consist of (RFC 3986). Parsers of addresses drop or encode all else, each in its way. */
const URI = /^[\x21-\x7e]+$/

/** Whether a browser may be sent to it with a code. */
function isCallback(text: string): boolean {
  const url = URI.test(text) ? URL.parse(text) : null
  if (url === null || url.hash !== '' || text.includes('#')) return false
  if (url.username !== '' || url.password !== '') return false
  if (url.protocol === 'http:') return LOOPBACK.has(url.hostname)
  return !FORBIDDEN_SCHEMES.has(url.protocol)
}

/**
 * Whether a program has named this address for its answers. On the computer of the browser it may use any port (RFC 8252,
 * section 7.3); all else is compared as text.
 */
export function isCallbackOf({ id, redirectUris }: Client, asked: string): boolean {
  // The service itself may be an address without TLS.
  if (id === EXTENSION_ID) return redirectUris.includes(asked)
  if (!isCallback(asked)) return false
  return redirectUris.some((known) => known === asked || withoutPort(known) === withoutPort(asked))
}

function withoutPort(text: string): string {
  const url = new URL(text)
  if (url.protocol !== 'http:') return text
  url.port = ''
  return url.href
}

/** What gets the answer, in words for the person. */
export function callbackOf(
  { id }: Client,
  text: string,
): { kind: 'local' | 'app' | 'site' | 'extension'; place: string } {
  const { protocol, host } = new URL(text)
  if (id === EXTENSION_ID) return { kind: 'extension', place: host }
  if (protocol === 'http:') return { kind: 'local', place: host }
  return protocol === 'https:'
    ? { kind: 'site', place: host }
    : { kind: 'app', place: protocol.slice(0, -1) }
}

/** One line of what the program calls itself, without what is not seen or would make another text of the page. */
function nameOf(
  { client_name = '' }: { client_name?: string | undefined },
  [address = '']: readonly string[],
): string {
  const name = client_name
    .toWellFormed()
    .replaceAll(/[\p{C}\p{DI}\p{Zl}\p{Zp}\s\u2800]+/gu, ' ')
    .trim()
  const { host, protocol } = new URL(address)
  const shown = name || host || protocol.slice(0, -1)
  return [...shown].slice(0, NAME_LENGTH_MAX).join('')
}

/** Returns undefined for what is no JSON. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

function refusal(fault: Fault): Failure {
  return Failure.invalid({ client_id: [fault] })
}
