import { Failure } from '../../platform/failure.ts'
import type { IdentityStore } from '../oidc/store/identity-store.ts'
import type { PasskeyStore } from '../second-factors/store/passkey-store.ts'
import type { PasswordStore } from './store/password-store.ts'

export type WayInStores = {
  readonly passwords: PasswordStore
  readonly passkeys: PasskeyStore
  readonly identities: IdentityStore
}

/**
 * Call within a transaction that has removed a passkey or an identity, and locked the person.
 *
 * @param field of the request, for the fault
 * @param issuer of the instance's provider, whose identities alone count; undefined without one
 * @throws {Failure} `validation_failed` where the person could no longer sign in
 */
export async function requireWayIn(
  { passwords, passkeys, identities }: WayInStores,
  personId: string,
  field: string,
  issuer: string | undefined,
): Promise<void> {
  if ((await passwords.find(personId)) !== undefined) return
  if ((await passkeys.list(personId)).length > 0) return
  if ((await identities.list(personId)).some((identity) => identity.issuer === issuer)) return
  throw Failure.invalid({ [field]: [{ code: 'last_way_in' }] })
}
