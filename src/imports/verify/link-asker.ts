import { RefusedAddressError } from '../../platform/dns/checked-lookup.ts'
import {
  type Agents,
  type OutgoingAnswer,
  sendRequest,
} from '../../platform/network/outgoing-request.ts'
import { VERSION } from '../../platform/process/version.ts'
import { backoffMs, SerialQueue } from '../../platform/work/async.ts'
import { RequestPace, type WaitingClock, waitingClock } from '../sources/api/source-client.ts'
import { answerFromHttp, type LinkAnswer } from './answers.ts'

/** Lists of bots have it, so that services do not count these visits as a person's. */
const USER_AGENT = `Mozilla/5.0 (compatible; terse-verify-bot/${VERSION})`
const TIMEOUT_MS = 20_000
const ATTEMPTS_MAX = 4
const FIRST_RETRY_MS = 1_000
const RETRY_MS_MAX = 60_000
/** Such as from HTTP to HTTPS. */
const HOPS_MAX = 3

export type LinkAskerOptions = {
  readonly agents: Agents
  readonly requestsPerSecond: number
  /** Connects here for every host. */
  readonly connectTo?: { readonly host: string; readonly port: number } | undefined
  readonly clock?: WaitingClock
  readonly timeoutMs?: number
}

/** The old service is where no link of a tenant may lead. Its message says what to do. */
class PrivateServiceFault extends Error {
  override readonly name = 'PrivateServiceFault'
}

/** Asks for short links as a visitor would, and follows no redirect to their destinations. */
export class LinkAsker {
  readonly #options: LinkAskerOptions
  readonly #clock: WaitingClock
  readonly #pace: RequestPace
  readonly #turns = new SerialQueue()

  constructor(options: LinkAskerOptions) {
    this.#options = options
    this.#clock = options.clock ?? waitingClock
    const limit = { requests: 1, perMs: 1_000 / options.requestsPerSecond }
    this.#pace = new RequestPace([limit], this.#clock)
  }

  /**
   * @throws {PrivateServiceFault} when the link is at an address that the agents refuse
   * @throws the signal's reason when it is aborted; every other failure is an answer
   */
  async ask(link: URL, signal: AbortSignal): Promise<LinkAnswer> {
    let url = link
    for (let hop = 0; hop < HOPS_MAX; hop += 1) {
      const answer = await this.#askAt(url, signal)
      const next = answer.kind === 'page' ? sameLink(url, answer.location) : undefined
      if (next === undefined) return answer
      url = next
    }
    return {
      kind: 'unknown',
      status: null,
      reason: 'it redirects to the same link again and again',
    }
  }

  /** Some services answer HEAD with an error where GET redirects. */
  async #askAt(url: URL, signal: AbortSignal): Promise<LinkAnswer> {
    const answer = await this.#retry('HEAD', url, signal)
    return answer.kind === 'redirect' || answer.status === null || isWithin(answer)
      ? answer
      : this.#retry('GET', url, signal)
  }

  async #retry(method: 'HEAD' | 'GET', url: URL, signal: AbortSignal): Promise<LinkAnswer> {
    for (let attempt = 0; ; attempt += 1) {
      await this.#turns.run(() => this.#pace.turn(signal))
      const outcome = await this.#send(method, url, signal)
      const isLast = attempt + 1 >= ATTEMPTS_MAX
      if (!('retry' in outcome)) return outcome
      if (!outcome.retry || isLast) return outcome.answer
      const waitMs = backoffMs(
        attempt,
        FIRST_RETRY_MS,
        RETRY_MS_MAX,
        (1 + this.#clock.random()) / 2,
      )
      await this.#clock.wait(Math.max(waitMs, Math.min(outcome.askedMs, RETRY_MS_MAX)), signal)
    }
  }

  async #send(
    method: 'HEAD' | 'GET',
    url: URL,
    signal: AbortSignal,
  ): Promise<LinkAnswer | { retry: boolean; askedMs: number; answer: LinkAnswer }> {
    const { agents, connectTo, timeoutMs = TIMEOUT_MS } = this.#options
    let answer: OutgoingAnswer
    try {
      const headers = { 'user-agent': USER_AGENT, accept: 'text/html,*/*' }
      answer = await sendRequest(agents, {
        ...{ method, url, headers, timeoutMs, bodyBytesMax: 0, signal, connectTo },
      })
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof RefusedAddressError) {
        throw new PrivateServiceFault(
          `${url.host} is at an address that is not public. If the old service is in a private network, add --private.`,
        )
      }
      return { retry: true, askedMs: 0, answer: failure(error) }
    }
    const { status, headers } = answer
    // A 5xx that does not change is an answer: some services send it for links that they refuse.
    if (status !== 429 && status < 500) return answerFromHttp(url, status, headers.location)
    const askedMs = Number(headers['retry-after'] ?? 0) * 1_000 || 0
    return { retry: true, askedMs, answer: answerFromHttp(url, status, undefined) }
  }
}

function failure(error: unknown): LinkAnswer {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
  return { kind: 'unknown', status: null, reason: `it does not answer${code}` }
}

/** Whether it is a redirect to a page of the service itself. */
function isWithin(answer: LinkAnswer): boolean {
  return answer.kind === 'page' && answer.location !== null
}

/** Returns the URL of the same short link by another scheme. */
function sameLink(url: URL, location: string | null): URL | undefined {
  const target = location === null ? null : URL.parse(location)
  if (target === null || target.protocol === url.protocol) return undefined
  const isSame = target.hostname === url.hostname && target.pathname === url.pathname
  return isSame ? target : undefined
}
