import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { queryOptions } from '@tanstack/react-query'
import type { EmailChangeResource, MeResource, TotpSetupResource } from '@terse/contract/me'
import type { PasskeyAssertionInput, PasskeyResource } from '@terse/contract/passkeys'
import type { SessionEntryResource } from '@terse/contract/sign-in'
import { request, requestAll } from './request.ts'

export type {
  MeResource,
  PasskeyAssertionInput,
  PasskeyResource,
  SessionEntryResource,
  TotpSetupResource,
}

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

/** Browsers have passkeys only on pages over HTTPS and of this machine. */
export const hasPasskeys = 'PublicKeyCredential' in globalThis

/** Thrown when the person closes the browser's dialog, or it waits for too long. */
export class PasskeyCancelled extends Error {}

export const passkeysQuery = queryOptions({
  queryKey: [...ME_KEY, 'passkeys'],
  queryFn: ({ signal }) => requestAll<PasskeyResource>('/me/passkeys', { signal }),
})

/** Whether the browser can offer passkeys among the suggestions of the e-mail field. */
export async function canSuggestPasskeys(): Promise<boolean> {
  if (!hasPasskeys) return false
  const { browserSupportsWebAuthnAutofill } = await import('@simplewebauthn/browser')
  return browserSupportsWebAuthnAutofill()
}

/**
 * Asks for a passkey. Another call ends the one before it.
 *
 * @param isSuggestion waits for the suggestions of the e-mail field, instead of a dialog
 * @throws {PasskeyCancelled}
 */
export async function askForPasskey(isSuggestion = false): Promise<PasskeyAssertionInput> {
  const [{ startAuthentication }, answer] = await Promise.all([
    import('@simplewebauthn/browser'),
    request<{ public_key: PublicKeyCredentialRequestOptionsJSON }>(
      'POST',
      '/session/passkey-options',
      { isSilent: true },
    ),
  ])
  try {
    const options = { optionsJSON: answer.public_key, useBrowserAutofill: isSuggestion }
    const { response, ...others } = await startAuthentication(options)
    return { ...others, response: { ...response } }
  } catch (error) {
    throw translated(error)
  }
}

/** Ends a request of `askForPasskey`, so that a later one can begin. */
export async function stopAskingForPasskey(): Promise<void> {
  const { WebAuthnAbortService } = await import('@simplewebauthn/browser')
  WebAuthnAbortService.cancelCeremony()
}

/** @throws {PasskeyCancelled} */
export async function addPasskey(name: string): Promise<PasskeyResource> {
  const [{ startRegistration }, { public_key: optionsJSON }] = await Promise.all([
    import('@simplewebauthn/browser'),
    request<{ public_key: PublicKeyCredentialCreationOptionsJSON }>('POST', '/me/passkeys/options'),
  ])
  let registration: unknown
  try {
    registration = await startRegistration({ optionsJSON })
  } catch (error) {
    throw translated(error)
  }
  return request('POST', '/me/passkeys', { body: { name, registration } })
}

export function renamePasskey(id: string, name: string): Promise<PasskeyResource> {
  return request('PATCH', `/me/passkeys/${id}`, { body: { name } })
}

export function deletePasskey(id: string): Promise<unknown> {
  return request('DELETE', `/me/passkeys/${id}`)
}

function translated(error: unknown): unknown {
  const name = error instanceof Error ? error.name : ''
  return name === 'NotAllowedError' || name === 'AbortError' ? new PasskeyCancelled() : error
}

/** The page of the service that leads to the provider of single sign-on, and then back. */
export function oidcStartPath(returnTo: string): string {
  return `/app/oidc/start?${new URLSearchParams({ return_to: returnTo })}`
}

/** Returns the page of the provider on which a new person signs in to accept an invitation. */
export async function startOidcInvitation(invitation: string): Promise<string> {
  const body = { invitation, return_to: '/app/links' }
  return (await request<{ url: string }>('POST', '/session/oidc', { body, isSilent: true })).url
}

/** Ends all other sessions of the person. */
export function unlinkIdentity(id: string): Promise<unknown> {
  return request('DELETE', `/me/identities/${id}`)
}

/** Returns the page of the provider on which the person signs in to link that account. */
export async function startOidcLink(returnTo: string): Promise<string> {
  const body = { return_to: returnTo }
  return (await request<{ url: string }>('POST', '/me/identities', { body })).url
}
