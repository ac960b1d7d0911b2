import { INSTANCE } from '../../platform/events/event-writer.ts'
import { type Actor, personActor, systemActor, tokenActor } from '../actor.ts'
import type { MembershipStore } from '../members/store/membership-store.ts'
import type { PersonStore } from '../people/store/person-store.ts'
import type { TokenStore } from '../tokens/store/token-store.ts'

/** Who made something that outlives the request, and in which workspace; `INSTANCE` outside of workspaces. */
export type Maker = Pick<Actor, 'kind' | 'id' | 'name' | 'workspaceId'>

export type MakerStores = {
  readonly people: Pick<PersonStore, 'findById'>
  readonly memberships: Pick<MembershipStore, 'find'>
  readonly tokens: Pick<TokenStore, 'findById'>
}

/** At which instant a grant is judged, and whether it is used: then what the judgement rests on is locked. */
export type JudgedAt = { readonly nowMicros: number; readonly isUse: boolean }

/**
 * Returns a maker as an actor with the permissions that they have now. Undefined where they have none any more: the token
 * was revoked or has expired, the person was deleted or disabled, or is no longer a member.
 */
export async function findActor(
  { people, memberships, tokens }: MakerStores,
  { kind, id, name, workspaceId }: Maker,
  { nowMicros, isUse }: JudgedAt,
): Promise<Actor | undefined> {
  if (kind === 'system') return systemActor(name)(workspaceId)
  // The maker was a person who has been deleted.
  if (id === null) return undefined
  const lock = isUse ? 'share' : undefined
  if (kind === 'token') {
    const token = await tokens.findById(id, lock)
    if (token === undefined || token.revoked_at !== null) return undefined
    const isExpired = token.expires_at !== null && token.expires_at <= nowMicros
    return isExpired || token.workspace_id !== workspaceId ? undefined : tokenActor(token)
  }
  const person = await people.findById(id, lock)
  if (person === undefined || person.disabled_at !== null) return undefined
  if (workspaceId === INSTANCE) return personActor(person, undefined, true)
  const membership = await memberships.find(workspaceId, id, lock)
  return membership && personActor(person, membership, true)
}
