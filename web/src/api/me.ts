import { queryOptions } from '@tanstack/react-query'
import type { EmailChangeResource, MeResource, TotpSetupResource } from '@terse/contract/me'
import type { SessionEntryResource } from '@terse/contract/sign-in'
import { request } from './request.ts'
import { requestAll } from './request-all.ts'

export type { MeResource, SessionEntryResource, TotpSetupResource }

/** Every key of a query about the own account begins so. */
export const ME_KEY = ['me'] as const

export const meQuery = queryOptions({
  queryKey: [...ME_KEY, 'account'],
  queryFn: ({ signal }) => request<MeResource>('GET', '/me', { signal }),
})

export const sessionsQuery = queryOptions({
  queryKey: [...ME_KEY, 'sessions'],
  queryFn: ({ signal }) => requestAll<SessionEntryResource>('/sessions', { signal }),
})

export function changeName(name: string): Promise<MeResource> {
  return request('PATCH', '/me', { body: { name } })
}

/** Mails a code to the address; where no mail is sent, changes it at once and ends all other sessions. */
export function changeEmail(email: string): Promise<EmailChangeResource> {
  return request('POST', '/me/email', { body: { email } })
}

/** Ends all other sessions. */
export function confirmEmail(code: string): Promise<EmailChangeResource> {
  return request('POST', '/me/email/confirm', { body: { code } })
}

/** Ends all other sessions. */
export function setPassword(password: string): Promise<unknown> {
  return request('PUT', '/me/password', { body: { password } })
}

/** Begins to set up an authenticator app; nothing changes until `confirmTotp`. */
export function startTotp(): Promise<TotpSetupResource> {
  return request('POST', '/me/totp')
}

/** Ends all other sessions. */
export function confirmTotp(code: string): Promise<unknown> {
  return request('PUT', '/me/totp', { body: { code } })
}

export function removeTotp(): Promise<unknown> {
  return request('DELETE', '/me/totp')
}

/** Returns new codes; earlier ones stop working. */
export async function replaceRecoveryCodes(): Promise<readonly string[]> {
  return (await request<{ codes: readonly string[] }>('POST', '/me/recovery-codes')).codes
}

export function endSession(id: string): Promise<unknown> {
  return request('DELETE', `/sessions/${id}`)
}

export function endOtherSessions(): Promise<unknown> {
  return request('DELETE', '/sessions')
}
