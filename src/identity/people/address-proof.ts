import { sessionChange } from '../../platform/changes/changes.ts'
import type { EventAuthor } from '../../platform/events/event-writer.ts'
import { endGroupRoles, type GroupRoleStores } from '../oidc/group-roles.ts'
import { type Identity, identityIdOf } from '../oidc/store/identity-store.ts'
import { factorState, hasSecondFactor } from '../second-factors/factor-state.ts'
import type { OwnFactorStores } from '../second-factors/own-factors.ts'
import type { Passkey } from '../second-factors/store/passkey-store.ts'
import type { Person } from './person.ts'

/** The stores in which a person has ways to sign in. */
export type AccessStores = OwnFactorStores & GroupRoleStores

/** The account with the provider that stays, because the person uses it now. */
export type KeptIdentity = Pick<Identity, 'issuer' | 'subject'>

/** Who changes the ways in of whom, and when. */
export type AccessChange = {
  readonly author: EventAuthor
  readonly person: Person
  readonly now: number
}

/** What a person confirms with a new password, by identifiers as the API has them. */
export type ConfirmedAccess = {
  readonly passkeys: readonly string[]
  readonly identities: readonly string[]
}

/**
 * Notes, within a transaction that has locked the person, that the address is theirs: they sent a code that went to it by
 * mail alone, or the provider of single sign-on vouches for it. At the first proof, everything with which somebody
 * could sign in until then is removed: whoever prepared the account may have left it there.
 *
 * @param kept the account with the provider with which the person proves the address
 * @returns whether it is the first proof
 */
export async function proveAddress(
  stores: AccessStores,
  change: AccessChange,
  kept?: KeptIdentity,
): Promise<boolean> {
  const { author, person, now } = change
  if (person.email_proved_at !== null) return false
  await dropAccess(stores, change, kept)
  await stores.people.update(person.id, { email_proved_at: now })
  const event = { type: 'person.updated', subjectId: person.id } as const
  const fields = { before: { is_email_proved: false }, after: { is_email_proved: true } }
  await stores.events.append(author, { ...event, ...fields }, now)
  return true
}

/**
 * Removes, within a transaction that has locked the person, all sessions and everything with which somebody could sign in
 * as the person: passwords, second factors, accounts with the provider, links for a new password and open changes of the address.
 *
 * @param kept the account with the provider that stays, because the person uses it now
 */
export async function dropAccess(
  stores: AccessStores,
  change: AccessChange,
  kept?: KeptIdentity,
): Promise<void> {
  const { author, person, now } = change
  const { id: subjectId } = person
  for (const passkey of await stores.passkeys.list(subjectId)) {
    await removePasskey(stores, change, passkey)
  }
  const keptId = kept && identityIdOf(kept)
  await removeIdentities(stores, change, (id) => id === keptId)
  if (await stores.totp.remove(subjectId)) {
    const event = { type: 'totp.deleted', subjectId, before: {}, after: null } as const
    await stores.events.append(author, event, now)
  }
  await stores.recoveryCodes.replace(subjectId, [])
  if (await stores.passwords.remove(subjectId)) {
    const event = { type: 'password.changed', subjectId, before: {} } as const
    await stores.events.append(author, { ...event, after: { password: 'removed' } }, now)
  }
  await stores.oneTimeLinks.deleteResetsOf(subjectId)
  await stores.oneTimeLinks.deleteEmailChangesOf(subjectId)
  await stores.sessions.deleteOthers(subjectId, undefined)
  await stores.changes.append(sessionChange(subjectId), now)
}

/**
 * As `dropAccess`, for a person whose address is unproved and who is given more rights: the person who prepared the account must
 * not gain them. The person needs a link for a new password then.
 */
export async function dropUnproved(
  stores: AccessStores,
  author: EventAuthor,
  personId: string,
  now: number,
): Promise<void> {
  const person = await stores.people.findById(personId)
  if (person?.email_proved_at === null) await dropAccess(stores, { author, person, now })
}

/**
 * Removes, within a transaction that has locked the person and is to set a new password, the passkeys and accounts with
 * the provider that the person does not confirm. Without another second factor, passkeys stay as that alone: they no
 * longer sign in without the password, and whoever can read the person's mail still needs one of them.
 *
 * @param mayDropLastFactor whether an operator vouches for the person
 */
export async function dropUnconfirmed(
  stores: AccessStores,
  change: AccessChange,
  confirmed: ConfirmedAccess,
  mayDropLastFactor: boolean,
): Promise<void> {
  const { id } = change.person
  await removeIdentities(stores, change, (each) => confirmed.identities.includes(each))
  const passkeys = await stores.passkeys.list(id)
  const unconfirmed = passkeys.filter((passkey) => !confirmed.passkeys.includes(passkey.id))
  const { hasTotp } = await factorState(stores, id)
  const isGuarded = hasTotp || unconfirmed.length < passkeys.length || mayDropLastFactor
  for (const passkey of unconfirmed) {
    if (isGuarded) await removePasskey(stores, change, passkey)
    else await stores.passkeys.setNeedsPassword(passkey.id, true)
  }
  if (!hasSecondFactor(await factorState(stores, id))) await stores.recoveryCodes.replace(id, [])
}

async function removePasskey(
  { passkeys, events }: AccessStores,
  { author, person, now }: AccessChange,
  { id: subjectId, name }: Passkey,
): Promise<void> {
  await passkeys.remove(person.id, subjectId)
  const event = { type: 'passkey.deleted', subjectId, before: { name }, after: null } as const
  await events.append(author, event, now)
}

/** With the last account go the roles that its groups gave. */
async function removeIdentities(
  stores: AccessStores,
  { author, person, now }: AccessChange,
  isKept: (id: string) => boolean,
): Promise<void> {
  const identities = await stores.identities.list(person.id)
  const removed = identities.filter((identity) => !isKept(identityIdOf(identity)))
  for (const { issuer, subject } of removed) {
    await stores.identities.remove({ issuer, subject })
    const event = { type: 'identity.deleted', subjectId: person.id, after: null } as const
    await stores.events.append(author, { ...event, before: { issuer } }, now)
  }
  if (removed.length === identities.length) await endGroupRoles(stores, person, now)
}
