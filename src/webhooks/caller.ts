import type { IncomingHttpHeaders } from 'node:http'
import type { AttemptFault } from '@terse/contract/webhooks'
import { RefusedAddressError } from '../platform/dns/checked-lookup.ts'
import {
  type Agents,
  closeAgents,
  guardedAgents,
  type OutgoingAnswer,
  sendRequest,
} from '../platform/network/outgoing-request.ts'
import { VERSION } from '../platform/process/version.ts'
import type { Clock } from '../platform/time/clock.ts'
import { signedHeaders, type WebhookSecrets } from './signature.ts'
import type { NewMessage, Outcome, Webhook } from './webhook.ts'

/** For a whole answer. */
const ANSWER_MS_MAX = 15_000
const BODY_BYTES_MAX = 16 * 1024
/** The answers of successes are seldom read, and are most of what the log holds. */
const SUCCESS_BODY_BYTES_MAX = 1024
const HEADER_CHARACTERS_MAX = 4 * 1024
/** Headers of answers that may hold a secret. */
const SECRET_HEADERS = /cookie|authorization|token|secret|api-?key/i

const CERTIFICATE_FAULT = /CERT|SELF_SIGNED|ERR_TLS|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/

export type CallerOptions = {
  readonly clock: Clock
  readonly secrets: WebhookSecrets
  /** Whether connections to an IP address are allowed. */
  readonly mayReach: (address: string) => boolean
  readonly baseUrl: string
}

/** Sends calls to endpoints, signed, and only to addresses that the guard allows. */
export class WebhookCaller {
  readonly #options: CallerOptions
  readonly #agents: Agents
  readonly #userAgent: string

  constructor(options: CallerOptions) {
    this.#options = options
    this.#agents = guardedAgents(options.mayReach)
    this.#userAgent = `Terse/${VERSION} (webhooks; +${options.baseUrl})`
  }

  close(): void {
    closeAgents(this.#agents)
  }

  /** Makes one attempt. Does not reject but for the reason of `signal`. */
  async call(
    webhook: Webhook,
    message: Pick<NewMessage, 'message_id' | 'body'>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { clock, secrets } = this.#options
    const at = clock.nowMicros()
    const signed = signedHeaders(message, secrets.of(webhook, at), at)
    const headers = {
      ...signed,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(message.body)),
      'user-agent': this.#userAgent,
    }
    const begunMs = performance.now()
    const answer = await this.#send(webhook.url, { headers, body: message.body, signal })
    const took_ms = Math.round(performance.now() - begunMs)
    const { 'webhook-signature': _, ...requestHeaders } = headers
    const sent = { at, took_ms, url: webhook.url, requestHeaders }
    if ('fault' in answer) {
      return { ...sent, status: null, fault: answer.fault, response: null, retryAt: null }
    }
    const { status } = answer
    const fault = faultOfStatus(status)
    const body = answer.body.subarray(0, fault === null ? SUCCESS_BODY_BYTES_MAX : BODY_BYTES_MAX)
    return {
      ...sent,
      status,
      fault,
      response: { headers: shownHeaders(answer.headers), body: printable(body) },
      retryAt: fault === null ? null : retryTime(answer.headers['retry-after'], clock.nowMicros()),
    }
  }

  async #send(
    url: string,
    request: { headers: Readonly<Record<string, string>>; body: string; signal: AbortSignal },
  ): Promise<OutgoingAnswer | { readonly fault: AttemptFault }> {
    const parsed = URL.parse(url)
    if (parsed === null) return { fault: 'unreachable' }
    try {
      return await sendRequest(this.#agents, {
        method: 'POST',
        url: parsed,
        ...request,
        timeoutMs: ANSWER_MS_MAX,
        bodyBytesMax: BODY_BYTES_MAX,
        isCutOff: true,
        isRepeatable: true,
      })
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason
      return { fault: faultOfError(error) }
    }
  }
}

function faultOfStatus(status: number): AttemptFault | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? 'redirect' : 'status'
}

function faultOfError(error: unknown): AttemptFault {
  if (error instanceof RefusedAddressError) return 'refused_address'
  const { name, code = '' } = error as { name?: string; code?: string }
  if (name === 'TimeoutError' || name === 'AbortError') return 'timeout'
  if (CERTIFICATE_FAULT.test(code)) return 'certificate'
  return code === 'ECONNRESET' || code === 'EPIPE' || code.startsWith('HPE_')
    ? 'broken'
    : 'unreachable'
}

/** `Retry-After` in seconds or as a date; null for neither. */
function retryTime(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header)) return now + Number(header) * 1_000_000
  const ms = Date.parse(header)
  return Number.isNaN(ms) ? null : ms * 1_000
}

function shownHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const shown: Record<string, string> = {}
  let characters = 0
  for (const [name, value] of Object.entries(headers)) {
    if (SECRET_HEADERS.test(name)) continue
    const text = Array.isArray(value) ? value.join(', ') : (value ?? '')
    characters += name.length + text.length
    if (characters > HEADER_CHARACTERS_MAX) break
    shown[name] = printable(Buffer.from(text))
  }
  return shown
}

/** Text that both engines store: PostgreSQL refuses the character 0. */
function printable(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replaceAll('\0', '\uFFFD')
}
