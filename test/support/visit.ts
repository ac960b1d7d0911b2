import { type IncomingHttpHeaders, request } from 'node:http'

export const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

export type VisitAnswer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type VisitOptions = {
  readonly host?: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** Sends no user agent at all. */
  readonly anonymous?: true
}

/** Visits as a browser does, with any `Host`, and without following redirects. */
export function visit(
  port: number,
  path: string,
  options: VisitOptions = {},
): Promise<VisitAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: options.method ?? 'GET',
        agent: false,
        headers: {
          host: options.host ?? 'localhost',
          ...(options.anonymous ? {} : { 'user-agent': BROWSER }),
          ...options.headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(options.body)
  })
}
