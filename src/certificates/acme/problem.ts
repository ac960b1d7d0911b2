import { z } from 'zod'
import { AuthorityError, type AuthorityTrouble } from '../authority-error.ts'
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

/** What each kind of problem means for whoever asked; `refused` for all others. */
const TROUBLES: Readonly<Record<string, AuthorityTrouble>> = {
  badNonce: 'away',
  serverInternal: 'away',
  rateLimited: 'limited',
  accountDoesNotExist: 'account',
  userActionRequired: 'account',
  externalAccountRequired: 'account',
}

export function isBadNonce(response: AuthorityResponse): boolean {
  return response.status === 400 && problemOf(response)?.type === `${PREFIX}badNonce`
}

/** A problem in words: its kind, and what the authority says of it. */
export function problemText({ type, detail, subproblems = [] }: Problem): string {
  const kind = type.startsWith(PREFIX) ? type.slice(PREFIX.length) : type
  const details = [detail, ...subproblems.map((each) => each.detail)].filter((text) => text !== '')
  return [kind, ...details].join(': ')
}

/** The error that an answer stands for that is not the one that was asked for. */
export function errorOf(
  response: AuthorityResponse,
  url: string,
  nowMs: number,
  otherwise: AuthorityTrouble = 'refused',
): AuthorityError {
  const { status } = response
  const retryAfterMs = parseRetryAfter(response.header('retry-after'), nowMs)
  const problem = problemOf(response)
  // Some say without a word that they do not know an order any more.
  if (problem === undefined && status === 404 && otherwise === 'refused') {
    return new AuthorityError('gone', `${new URL(url).host} does not know it any more`)
  }
  if (problem === undefined || status >= 500) {
    const said = problem === undefined ? '' : `: ${problemText(problem)}`
    const { host } = new URL(url)
    return new AuthorityError('away', `${host} answered with status ${status}${said}`, {
      retryAfterMs,
    })
  }
  const kind = problem.type.startsWith(PREFIX) ? problem.type.slice(PREFIX.length) : ''
  const trouble = TROUBLES[kind] ?? (status === 404 ? 'gone' : otherwise)
  return new AuthorityError(trouble, problemText(problem), { retryAfterMs })
}

function problemOf({ text }: AuthorityResponse): Problem | undefined {
  try {
    return problemSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
