import { z } from 'zod'
import { AuthorityError, type AuthorityErrorKind } from '../authority-error.ts'
import type { AuthorityResponse } from './authority-http.ts'
import { parseRetryAfter } from './retry-after.ts'

const PREFIX = 'urn:ietf:params:acme:error:'

/** A problem document (RFC 7807) as ACME uses it (RFC 8555, section 6.7). */
export const problemSchema = z.object({
  type: z.string().catch('about:blank'),
  detail: z.string().catch(''),
  subproblems: z
    .array(z.object({ type: z.string().catch(''), detail: z.string().catch('') }))
    .optional()
    .catch(undefined),
})

type Problem = z.output<typeof problemSchema>

/** What each ACME error type means for the caller; all others are `rejected`. */
const KINDS: Readonly<Record<string, AuthorityErrorKind>> = {
  badNonce: 'unavailable',
  serverInternal: 'unavailable',
  rateLimited: 'rateLimited',
  accountDoesNotExist: 'account',
  userActionRequired: 'account',
  externalAccountRequired: 'account',
}

export function isBadNonce(response: AuthorityResponse): boolean {
  return response.status === 400 && problemOf(response)?.type === `${PREFIX}badNonce`
}

/** Formats a problem for people: its type, then the authority's own words. */
export function problemText({ type, detail, subproblems = [] }: Problem): string {
  const name = type.startsWith(PREFIX) ? type.slice(PREFIX.length) : type
  const details = [detail, ...subproblems.map((each) => each.detail)].filter((text) => text !== '')
  return [name, ...details].join(': ')
}

/**
 * Turns an error response into an `AuthorityError`.
 *
 * @param fallback the kind for a problem that is not in the table
 */
export function errorOf(
  response: AuthorityResponse,
  url: string,
  nowMs: number,
  fallback: AuthorityErrorKind = 'rejected',
): AuthorityError {
  const { status } = response
  const retryAfterMs = parseRetryAfter(response.header('retry-after'), nowMs)
  const problem = problemOf(response)
  // Some authorities answer 404 without a problem document for an order that they have dropped.
  if (problem === undefined && status === 404 && fallback === 'rejected') {
    return new AuthorityError('notFound', `${new URL(url).host} no longer knows the order`)
  }
  if (problem === undefined || status >= 500) {
    const detail = problem === undefined ? '' : `: ${problemText(problem)}`
    const { host } = new URL(url)
    return new AuthorityError('unavailable', `${host} answered with status ${status}${detail}`, {
      retryAfterMs,
    })
  }
  const name = problem.type.startsWith(PREFIX) ? problem.type.slice(PREFIX.length) : ''
  const kind = KINDS[name] ?? (status === 404 ? 'notFound' : fallback)
  return new AuthorityError(kind, problemText(problem), { retryAfterMs })
}

function problemOf({ text }: AuthorityResponse): Problem | undefined {
  try {
    return problemSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
