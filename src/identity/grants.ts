import { Failure } from '../platform/failure.ts'
import { type EventWriter, INSTANCE } from '../storage/event-log.ts'
import { type Actor, personActor, systemActor, tokenActor } from './actor.ts'
import { invitationEvent, invitationOf } from './one-time-links.ts'
import { isWithinRank, type Operation, requireAccess } from './permissions.ts'
import { requireSession } from './sign-in/sessions.ts'
import type { MembershipStore } from './store/membership-store.ts'
import type { FoundLink, OneTimeLink, OneTimeLinkStore } from './store/one-time-link-store.ts'
import type { PersonStore } from './store/person-store.ts'
import type { SessionStore } from './store/session-store.ts'
import type { TokenStore } from './store/token-store.ts'
import type { WorkspaceStore } from './store/workspace-store.ts'

/** Who made something that outlives the request, and in which workspace; `INSTANCE` outside of workspaces. */
export type Maker = Pick<Actor, 'kind' | 'id' | 'name' | 'workspaceId'>

export type MakerStores = {
  readonly people: Pick<PersonStore, 'findById'>
  readonly memberships: Pick<MembershipStore, 'find'>
  readonly tokens: Pick<TokenStore, 'findById'>
}

/** At which instant a grant is judged, and whether it is used: then what the judgement rests on is locked. */
type JudgedAt = { readonly nowMicros: number; readonly isUse: boolean }

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

/** The stores that are read to judge who changes a right. */
export type ActingStores = MakerStores & {
  readonly people: Pick<PersonStore, 'findById' | 'lock' | 'lockOperators'>
  readonly memberships: Pick<MembershipStore, 'find' | 'lock'>
  readonly sessions: Pick<SessionStore, 'has'>
  readonly workspaces: Pick<WorkspaceStore, 'findById'>
}

/** What a right is changed of, and when. */
type ActingOn = {
  readonly nowMicros: number
  /** The person whose rights change. */
  readonly personId?: string
  /** Returns other workspaces whose members change. Called with the person locked. */
  readonly workspacesOf?: () => Promise<readonly string[]>
}

/**
 * Judges again, as the first step of a transaction that makes, changes or ends a right, who does it: a request was
 * authenticated before, perhaps by a cache, and must not undo what has ended its right meanwhile. Returns the actor with
 * the permissions of this moment; how recently a person has authenticated is that of the request. Parts of the service
 * pass. Until the transaction ends, neither the actor's rights nor the members of the workspace change.
 *
 * Transactions that change rights lock in this order, so that no two wait for each other: names (the operators; people, by
 * identifier; the members of workspaces, by identifier; other names), and only then rows. One is out of order: the
 * workspaces of groups whose roles end with the first proof of an address (`endGroupRoles`).
 *
 * @throws {Failure} as `requireAccess`; `unauthorized` where the session or token has ended; `not_found` where the
 *   workspace was deleted, or the person is no longer a member
 */
export async function requireActor(
  stores: ActingStores,
  actor: Actor,
  operation: Operation,
  of: ActingOn,
): Promise<Actor> {
  const { kind, id, workspaceId, sessionId, hasAuthenticatedRecently, requestId } = actor
  await lockNames(stores, actor, of)
  const isGone =
    workspaceId !== INSTANCE && (await stores.workspaces.findById(workspaceId)) === undefined
  if (isGone) throw Failure.notFound(`Workspace "${workspaceId}"`)
  if (kind === 'system') return actor
  const { nowMicros } = of
  const found = await findActor(stores, actor, { nowMicros, isUse: true })
  if (kind === 'person' && id !== null && sessionId !== null) {
    await requireSession(stores, id, sessionId)
  }
  if (found === undefined) throw ended(actor)
  const current = {
    ...found,
    ...{ sessionId, hasAuthenticatedRecently, requestId },
    // A person lets an assistant do a part of what they may.
    permissions: found.permissions.intersection(actor.permissions),
    isOperator: found.isOperator && actor.isOperator,
    name: actor.name,
  }
  requireAccess(current, operation)
  return current
}

async function lockNames(
  { people, memberships }: ActingStores,
  { kind, id, workspaceId }: Actor,
  { personId, workspacesOf }: ActingOn,
): Promise<void> {
  if (workspaceId === INSTANCE) await people.lockOperators()
  const ids = new Set([personId, kind === 'person' ? id : null])
  for (const each of [...ids].filter((value) => value != null).toSorted()) await people.lock(each)
  const workspaces = (await workspacesOf?.()) ?? []
  const all = workspaceId === INSTANCE ? workspaces : [...workspaces, workspaceId]
  for (const each of all.toSorted()) await memberships.lock(each)
}

/** As the next request is answered. */
function ended({ kind, workspaceId }: Actor): Failure {
  if (kind === 'token') return Failure.unauthorized({ code: 'invalid_token' })
  if (workspaceId !== INSTANCE) return Failure.notFound(`Workspace "${workspaceId}"`)
  return Failure.unauthorized({ code: 'session_ended' })
}

/** The stores that are read to judge a one-time link. */
export type JudgeStores = {
  readonly people: PersonStore
  readonly memberships: MembershipStore
  readonly tokens: TokenStore
  readonly oneTimeLinks: OneTimeLinkStore
}

export type GrantStores = JudgeStores & {
  readonly events: EventWriter
  readonly assistants: {
    /** Deletes those of a person who is no member of their workspace any more, or disabled. */
    deleteLost(personId: string): Promise<void>
    /** Deletes all of a person. */
    deleteAll(personId: string): Promise<void>
  }
}

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
 * Deletes, within the transaction that changes the rights of a person or token, the open links that it has made, those
 * for the person's password, and what the person lets assistants do, whose reason has ended by that. The session of the
 * person judges a change of address. It only tidies up: each is judged when it is used.
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
  await stores.assistants.deleteLost(personOrTokenId)
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
