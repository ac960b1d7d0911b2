import { type EventWriter, INSTANCE } from '../../platform/events/event-writer.ts'
import { Failure } from '../../platform/failure.ts'
import { type Actor, systemActor } from '../actor.ts'
import { invitationEvent, invitationOf } from '../members/invitation.ts'
import type { MembershipStore } from '../members/store/membership-store.ts'
import type { FoundLink, OneTimeLink } from '../one-time-links/one-time-link.ts'
import type { OneTimeLinkStore } from '../one-time-links/store/one-time-link-store.ts'
import type { PersonStore } from '../people/store/person-store.ts'
import { isWithinRank } from '../permissions.ts'
import type { TokenStore } from '../tokens/store/token-store.ts'
import { findActor, type JudgedAt } from './find-actor.ts'

/** The stores that are read to judge a one-time link. */
export type JudgeStores = {
  readonly people: PersonStore
  readonly memberships: MembershipStore
  readonly tokens: TokenStore
  readonly oneTimeLinks: OneTimeLinkStore
}

export type GrantStores = JudgeStores & { readonly events: EventWriter }

const endedRights = systemActor('ended rights')

/**
 * Finds an open invitation or reset link whose maker may still make one like it: the reason for which it was granted
 * has not ended. To use it, call this within the transaction that does.
 */
export async function findGranted(
  stores: JudgeStores,
  kind: 'invitation' | 'reset',
  hash: string,
  at: JudgedAt,
): Promise<FoundLink | undefined> {
  const link = await stores.oneTimeLinks.findOpen(kind, hash, at.nowMicros)
  // Before rows, as `requireActor` says.
  if (at.isUse && link?.workspace_id) await stores.memberships.lock(link.workspace_id)
  return link !== undefined && (await isStillGranted(stores, link, at)) ? link : undefined
}

/**
 * Deletes, within the transaction that changes the rights of a person or token, the open links that it has made, and
 * those for the person's password, whose reason has ended by that. The session of the person judges a change of address. It only tidies up: each is judged when it is used.
 */
export async function endLostGrants(
  stores: GrantStores,
  personOrTokenId: string,
  nowMicros: number,
): Promise<void> {
  const ended: string[] = []
  for (const link of await stores.oneTimeLinks.listOpenOf(personOrTokenId, nowMicros)) {
    if (await isStillGranted(stores, link, { nowMicros, isUse: false })) continue
    ended.push(link.id)
    if (link.kind !== 'invitation') continue
    const invitation = invitationOf(link)
    const author = endedRights(invitation.workspace_id)
    await stores.events.append(author, invitationEvent('invitation.deleted', invitation), nowMicros)
  }
  await stores.oneTimeLinks.deleteAll(ended)
}

async function isStillGranted(
  stores: JudgeStores,
  link: OneTimeLink,
  at: JudgedAt,
): Promise<boolean> {
  const { kind, role, person_id: personId } = link
  if (kind === 'reset' && personId !== null) return mayStillReset(stores, link, personId, at)
  if (kind === 'email') return true
  const maker = await findMaker(stores, link, at)
  if (maker === undefined || kind !== 'invitation' || role === null) return false
  return maker.permissions.has('members.edit') && isWithinRank(maker, role)
}

async function mayStillReset(
  stores: JudgeStores,
  link: OneTimeLink,
  personId: string,
  at: JudgedAt,
): Promise<boolean> {
  // Rows of people by identifier too: two who reset one another's passwords do not wait for each other.
  const { created_by_kind: kind, created_by_id: makerId } = link
  if (at.isUse && kind === 'person' && makerId !== null && makerId < personId) {
    await stores.people.findById(makerId, 'share')
  }
  // Locked for update, so that the person joins no workspace meanwhile either.
  const person = await stores.people.findById(personId, at.isUse ? 'update' : undefined)
  if (person === undefined || person.disabled_at !== null) return false
  // The person has requested it by mail.
  if (kind === 'person' && makerId === personId) return true
  const maker = await findMaker(stores, link, at)
  if (maker === undefined) return false
  if (link.workspace_id === null) return maker.kind === 'system' || maker.isOperator
  return (await memberResetFault(stores, maker, personId, at.isUse)) === undefined
}

function findMaker(
  stores: JudgeStores,
  { created_by_kind: kind, created_by_id: id, created_by: name, workspace_id }: OneTimeLink,
  at: JudgedAt,
): Promise<Actor | undefined> {
  if (kind === null) return Promise.resolve(undefined)
  return findActor(
    stores,
    { kind, id, name: name ?? '', workspaceId: workspace_id ?? INSTANCE },
    at,
  )
}

/**
 * Why an actor may not give a member of the actor's workspace a new password, which opens everything that the person may
 * do; undefined where they may.
 */
export async function memberResetFault(
  { people, memberships }: Pick<JudgeStores, 'people' | 'memberships'>,
  actor: Actor,
  personId: string,
  isUse: boolean,
): Promise<Failure | undefined> {
  const person = await people.findById(personId)
  const joined = await memberships.listOfPerson(personId, isUse ? 'share' : undefined)
  const own = joined.find(({ workspace_id }) => workspace_id === actor.workspaceId)
  if (person === undefined || own === undefined) return Failure.notFound('Member')
  if (!actor.permissions.has('passwords.reset') || !isWithinRank(actor, own.role)) {
    return Failure.missingRole({ code: 'role_needed', reason: own.role })
  }
  if (person.is_operator || joined.length > 1) {
    return Failure.missingRole({ code: 'reset_by_operator' })
  }
  return undefined
}
