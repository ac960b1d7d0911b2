import { queryOptions } from '@tanstack/react-query'
import type { PasskeyAssertionInput } from '@terse/contract/passkeys'
import type { Role } from '@terse/contract/roles'
import type {
  MembershipResource,
  PasswordResetDetailsResource,
  SessionResource,
  SignInOptionsResource,
} from '@terse/contract/sign-in'
import { SESSION_READ } from './reads.ts'
import { request } from './request.ts'

export type { Role }
export type Session = SessionResource
export type Membership = MembershipResource
export type PasswordResetDetails = PasswordResetDetailsResource
export type SignInOptions = SignInOptionsResource

/** From the least to the most. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const satisfies readonly Role[]

export type Credentials = {
  readonly email?: string
  readonly password?: string
  readonly code?: string
  readonly passkey?: PasskeyAssertionInput
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => request<Session>('GET', SESSION_READ.path, { signal, isSilent: true }),
  staleTime: 60_000,
})

/** What the pages before a sign-in offer. */
export const signInOptionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: ({ signal }) =>
    request<SignInOptions>('GET', '/sign-in-options', { signal, isSilent: true }),
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

type SetUp = {
  readonly code: string
  readonly email: string
  readonly name: string
  readonly password: string
}

/** Makes the first person, and signs in. */
export function setUp(fields: SetUp): Promise<Session> {
  return request('POST', '/setup', { body: fields, isSilent: true })
}

export function requestPasswordReset(email: string): Promise<unknown> {
  return request('POST', '/password-resets', { body: { email }, isSilent: true })
}

/** What the code of a link for a new password leads to. It is not used by this. */
export function lookUpPasswordReset(code: string): Promise<PasswordResetDetails> {
  return request('POST', '/password-resets/look-up', { body: { code }, isSilent: true })
}

type PasswordReset = {
  readonly code: string
  readonly password: string
  readonly keep_passkeys: readonly string[]
  readonly keep_identities: readonly string[]
}

export function completePasswordReset(fields: PasswordReset): Promise<unknown> {
  return request('POST', '/password-resets/complete', { body: fields, isSilent: true })
}
