import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { queryOptions } from '@tanstack/react-query'
import type { PasskeyAssertionInput, PasskeyResource } from '@terse/contract/passkeys'
import { ME_KEY } from './me.ts'
import { request } from './request.ts'
import { requestAll } from './request-all.ts'

export type { PasskeyAssertionInput, PasskeyResource }

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
