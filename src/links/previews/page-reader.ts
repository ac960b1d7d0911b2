import type { Fault } from '@terse/contract/faults'
import { RefusedAddressError } from '../../platform/dns/checked-lookup.ts'
import { Failure } from '../../platform/failure.ts'
import {
  type Agents,
  AnswerTooLongError,
  closeAgents,
  guardedAgents,
  type OutgoingAnswer,
  sendRequest,
} from '../../platform/network/outgoing-request.ts'
import { VERSION } from '../../platform/process/version.ts'

/** A page or picture, with the address from which it came at last. */
type Loaded = { readonly url: string; readonly contentType: string; readonly body: Uint8Array }

/** The tags of a page are in its head. */
const PAGE_BYTES_MAX = 512 * 1024
const PICTURE_BYTES_MAX = 5 * 1024 * 1024
/** For page and picture together, all redirects included. */
const TOTAL_MS_MAX = 10_000
const REDIRECTS_MAX = 5

/**
 * Loads pages and pictures that tenants name. Connects only to addresses that the guard allows, also after redirects, and
 * sends neither cookies nor where the request came from.
 */
export class PageReader {
  readonly #agents: Agents
  readonly #userAgent: string
  readonly #signal = AbortSignal.timeout(TOTAL_MS_MAX)

  /**
   * @param options.mayReach whether connections to an IP address are allowed
   * @param options.baseUrl where the owner of a site finds out who reads it
   */
  constructor(options: {
    readonly mayReach: (address: string) => boolean
    readonly baseUrl: string
  }) {
    this.#agents = guardedAgents(options.mayReach)
    this.#userAgent = `Mozilla/5.0 (compatible; terse-preview-bot/${VERSION}; +${options.baseUrl})`
  }

  close(): void {
    closeAgents(this.#agents)
  }

  /**
   * Loads the beginning of a page.
   *
   * @throws {Failure} `validation_failed` for `url` when there is no page, with the reason
   */
  async page(url: string): Promise<Loaded> {
    const loaded = await this.#load(url, 'text/html,application/xhtml+xml;q=0.9', PAGE_BYTES_MAX)
    if (!/^(?:text\/html|application\/xhtml\+xml)\b/i.test(loaded.contentType)) {
      throw noPreview({ reason: 'page' })
    }
    return loaded
  }

  /** @throws {Failure} as `page` */
  picture(url: string): Promise<Loaded> {
    return this.#load(url, 'image/png,image/jpeg,image/webp,image/gif', PICTURE_BYTES_MAX)
  }

  async #load(start: string, accept: string, bodyBytesMax: number): Promise<Loaded> {
    const parsed = URL.parse(start)
    if (parsed === null) throw Failure.invalid({ url: [{ code: 'invalid_url' }] })
    let url = parsed
    for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
      if (!/^https?:$/.test(url.protocol)) throw noPreview({ reason: 'scheme' })
      const answer = await this.#send(url, accept, bodyBytesMax)
      const { status, headers, body } = answer
      const next = isRedirect(status) ? URL.parse(headers.location ?? '', url) : null
      if (next === null) {
        if (status !== 200) throw noPreview({ reason: 'status', status })
        return { url: url.href, contentType: headers['content-type'] ?? '', body }
      }
      url = next
    }
    throw noPreview({ reason: 'redirects', max: REDIRECTS_MAX })
  }

  async #send(url: URL, accept: string, bodyBytesMax: number): Promise<OutgoingAnswer> {
    try {
      return await sendRequest(this.#agents, {
        ...{ method: 'GET', url, bodyBytesMax, timeoutMs: TOTAL_MS_MAX, signal: this.#signal },
        headers: { 'user-agent': this.#userAgent, accept, 'accept-encoding': 'identity' },
        isCutOff: bodyBytesMax === PAGE_BYTES_MAX,
      })
    } catch (error) {
      if (error instanceof RefusedAddressError) throw noPreview({ reason: 'private' })
      if (error instanceof AnswerTooLongError)
        throw noPreview({ reason: 'too_long', max: bodyBytesMax })
      if (this.#signal.aborted) throw noPreview({ reason: 'slow', max: TOTAL_MS_MAX / 1_000 })
      throw noPreview({ reason: 'unreachable' })
    }
  }
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

type NoPreview = Extract<Fault, { code: 'no_preview' }>
type Reason = NoPreview extends infer One
  ? One extends unknown
    ? Omit<One, 'code'>
    : never
  : never

export function noPreview(reason: Reason): Failure {
  return Failure.invalid({ url: [{ code: 'no_preview', ...reason } as NoPreview] })
}
