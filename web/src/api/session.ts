import { queryOptions } from '@tanstack/react-query'
import { request } from './request.ts'

// The shapes of people and sessions.
export type Role = 'viewer' | 'member' | 'admin' | 'owner'

export type Membership = {
  readonly workspace_id: string
  readonly workspace_name: string
  readonly role: Role
}

export type Session = {
  readonly id: string
  readonly person: {
    readonly id: string
    readonly email: string
    readonly name: string
    readonly is_operator: boolean
  }
  readonly memberships: readonly Membership[]
  /** The host of the service itself. */
  readonly service_host: string
}

export type Credentials = {
  readonly email?: string
  readonly password: string
  readonly code?: string
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => request<Session>('GET', '/session', { signal, isSilent: true }),
  staleTime: 60_000,
})

export function signIn(credentials: Credentials): Promise<Session> {
  return request('POST', '/session', { body: credentials, isSilent: true })
}

/** Renews a session that is too old for an operation. */
export function authenticate(credentials: Omit<Credentials, 'email'>): Promise<Session> {
  return request('POST', '/session/authenticate', { body: credentials, isSilent: true })
}

export function signOut(): Promise<unknown> {
  return request('DELETE', '/session', { isSilent: true })
}
