import { queryOptions } from '@tanstack/react-query'
import type { CreatedTokenResource, Scope, TokenResource } from '@terse/contract/tokens'
import { request, requestAll } from './request.ts'

export type { CreatedTokenResource, Scope, TokenResource }

export const SCOPES = [
  'links:read',
  'links:write',
  'domains:read',
  'domains:write',
  'clicks:read',
  'conversions:read',
  'conversions:write',
  'webhooks:read',
  'webhooks:write',
  'workspace:admin',
] as const satisfies readonly Scope[]

export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: ({ signal }) => requestAll<TokenResource>('/tokens', { signal }),
  staleTime: 5_000,
})

type NewToken = {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** ISO 8601; null for none. */
  readonly expires_at: string | null
}

export function createToken(token: NewToken): Promise<CreatedTokenResource> {
  return request('POST', '/tokens', { body: token })
}

export function revokeToken(id: string): Promise<unknown> {
  return request('DELETE', `/tokens/${id}`)
}

export const EXPIRIES = ['year', 'quarter', 'month', 'never', 'custom'] as const
export type Expiry = (typeof EXPIRIES)[number]

const DAYS: Partial<Record<Expiry, number>> = { month: 30, quarter: 90, year: 365 }
const DAY_MS = 24 * 60 * 60_000

/**
 * When a token expires, as an ISO 8601 instant; null for never.
 *
 * @param day of `custom`, `YYYY-MM-DD`: the token works to its end, in the time zone of the browser
 */
export function expiryOf(expiry: Expiry, day: string, now: Date): string | null {
  if (expiry === 'never') return null
  if (expiry !== 'custom')
    return new Date(now.getTime() + (DAYS[expiry] ?? 0) * DAY_MS).toISOString()
  const end = new Date(`${day}T00:00:00`)
  end.setDate(end.getDate() + 1)
  return end.toISOString()
}
