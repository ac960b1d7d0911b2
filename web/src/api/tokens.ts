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
  'workspace:admin',
] as const satisfies readonly Scope[]

export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: ({ signal }) => requestAll<TokenResource>('/tokens', { signal }),
  staleTime: 5_000,
})

export type NewToken = {
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
