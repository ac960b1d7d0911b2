import { Agent, type RequestOptions, request } from 'node:https'
import { VERSION } from '../../platform/process/version.ts'
import { AuthorityError } from '../authority-error.ts'

/** More than any answer of a certificate authority needs. */
const BODY_BYTES_MAX = 256 * 1024

export type AuthorityResponse = {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly text: string
}

/** HTTPS to one certificate authority. What fails throws `AuthorityError`, as `away`. */
export type AuthorityHttp = {
  send(
    method: 'GET' | 'HEAD' | 'POST',
    url: string,
    options?: { readonly body?: string; readonly accept?: string },
  ): Promise<AuthorityResponse>
  /** Ends what is under way. */
  cancel(): void
}

/**
 * @param options.trusted certificates to trust for the authority's own HTTPS, in PEM; those that
 *   Node.js trusts when undefined
 * @param options.timeoutMs for one request, from its start to the end of the answer
 */
export function authorityHttp(options: {
  trusted: readonly string[] | undefined
  timeoutMs: number
}): AuthorityHttp {
  const { trusted, timeoutMs } = options
  const agent = new Agent({
    keepAlive: true,
    ...(trusted !== undefined && { ca: [...trusted] }),
  })
  const cancelled = new AbortController()

  return {
    send(method, url, { body, accept } = {}) {
      const requestOptions: RequestOptions & { signal: AbortSignal } = {
        method,
        agent,
        signal: AbortSignal.any([cancelled.signal, AbortSignal.timeout(timeoutMs)]),
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
    },
    cancel() {
      cancelled.abort()
      agent.destroy()
    },
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
      reject(new AuthorityError('away', `${host} did not answer: ${reason}`, { cause }))
    }
    const sent = request(url, options, (response) => {
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('error', fail)
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > BODY_BYTES_MAX) response.destroy(new Error('the answer is too long'))
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
