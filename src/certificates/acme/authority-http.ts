import { Agent, type RequestOptions, request } from 'node:https'
import { VERSION } from '../../platform/process/version.ts'
import { AuthorityError } from '../certificate-authority.ts'

/** No response that ACME defines comes near this size. */
const BODY_BYTES_MAX = 256 * 1024

export type AuthorityResponse = {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly text: string
}

/**
 * HTTPS requests to one certificate authority. Every failure is an `AuthorityError`, `unavailable`.
 */
export class AuthorityHttp {
  readonly #timeoutMs: number
  readonly #agent: Agent
  readonly #cancelled = new AbortController()

  /**
   * @param options.trusted CA certificates for the authority's own HTTPS, in PEM; undefined for the
   *   defaults of Node.js
   * @param options.timeoutMs for one request, from its start to the end of the response
   */
  constructor(options: { trusted: readonly string[] | undefined; timeoutMs: number }) {
    const { trusted, timeoutMs } = options
    this.#timeoutMs = timeoutMs
    this.#agent = new Agent({
      keepAlive: true,
      ...(trusted !== undefined && { ca: [...trusted] }),
    })
  }

  send(
    method: 'GET' | 'HEAD' | 'POST',
    url: string,
    { body, accept }: { readonly body?: string; readonly accept?: string } = {},
  ): Promise<AuthorityResponse> {
    const requestOptions: RequestOptions & { signal: AbortSignal } = {
      method,
      agent: this.#agent,
      signal: AbortSignal.any([this.#cancelled.signal, AbortSignal.timeout(this.#timeoutMs)]),
      headers: {
        'user-agent': `terse/${VERSION}`,
        'accept-language': 'en',
        ...(accept !== undefined && { accept }),
        ...(body !== undefined && {
          'content-type': 'application/jose+json',
          'content-length': Buffer.byteLength(body),
        }),
      },
    }
    return exchange(url, requestOptions, body)
  }

  /** Aborts all requests in progress, and those that are sent later. */
  cancel(): void {
    this.#cancelled.abort()
    this.#agent.destroy()
  }
}

function exchange(
  url: string,
  options: RequestOptions & { signal: AbortSignal },
  body: string | undefined,
): Promise<AuthorityResponse> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => {
      const reason = options.signal.aborted ? String(options.signal.reason) : cause.message
      const { host } = new URL(url)
      reject(new AuthorityError('unavailable', `${host} did not answer: ${reason}`, { cause }))
    }
    const sent = request(url, options, (response) => {
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('error', fail)
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > BODY_BYTES_MAX) response.destroy(new Error('the response is too long'))
        else chunks.push(chunk)
      })
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          header: (name) => [response.headers[name]].flat()[0],
          text: Buffer.concat(chunks).toString('utf8'),
        })
      })
    })
    sent.on('error', fail)
    sent.end(body)
  })
}
