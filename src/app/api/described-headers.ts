const HEADERS = {
  Allow: 'The methods that the path has.',
  ETag: 'Names this version. Send it in `If-None-Match` to get 304 for as long as nothing changes.',
  'Idempotent-Replayed':
    '`true` when an earlier request with this `Idempotency-Key` has done the work; absent otherwise.',
  Location: 'The path of what was created.',
  'RateLimit-Limit': 'Requests that the token may make in a minute.',
  'RateLimit-Remaining': 'How many of them are left.',
  'RateLimit-Reset': 'Seconds until the next minute begins.',
  'Retry-After': 'Seconds to wait before the request is sent again.',
  Upgrade: '`TLS/1.2, HTTP/1.1`: send the request to the `https://` address.',
  'WWW-Authenticate':
    'The scheme `Bearer`, and why the token was refused if one was sent (RFC 6750).',
  'X-Request-Id': 'The id of the request, which the log of the service has too.',
} as const

type HeaderName = keyof typeof HEADERS

const INTEGERS: ReadonlySet<string> = new Set([
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
])

const RATE_LIMIT = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const

const OF_STATUS: Readonly<Record<string, readonly HeaderName[]>> = {
  200: RATE_LIMIT,
  201: RATE_LIMIT,
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  405: ['Allow'],
  426: ['Upgrade'],
  429: ['Retry-After', ...RATE_LIMIT],
  500: ['X-Request-Id'],
  503: ['Retry-After'],
}

export type DescribedOperation = { readonly isLocated: boolean; readonly isRepeatable: boolean }

/**
 * Describes the headers of every response, by its status.
 *
 * @param on.isLocated whether a `GET` shows what the operation creates
 * @param on.isRepeatable whether it honours `Idempotency-Key`
 */
export function describeHeaders(
  responses: Readonly<Record<string, object>>,
  { isLocated, isRepeatable }: DescribedOperation,
): object {
  const isConditional = '304' in responses
  const described = Object.entries(responses).map(([status, response]) => {
    const names: HeaderName[] = [...(OF_STATUS[status] ?? [])]
    if (isConditional && (status === '200' || status === '304')) names.push('ETag')
    if (isLocated && status === '201') names.push('Location')
    if (isRepeatable && (status === '200' || status === '201')) names.push('Idempotent-Replayed')
    const headers = Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    )
    return [status, names.length === 0 ? response : { ...response, headers }]
  })
  return Object.fromEntries(described)
}

/** The header components to which `describeHeaders` refers. */
export const HEADER_COMPONENTS = Object.fromEntries(
  Object.entries(HEADERS).map(([name, description]) => [
    name,
    { description, schema: INTEGERS.has(name) ? { type: 'integer' } : { type: 'string' } },
  ]),
)
