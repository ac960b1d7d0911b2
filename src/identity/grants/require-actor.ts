import { INSTANCE } from '../../platform/events/event-writer.ts'
import { Failure } from '../../platform/failure.ts'
import type { Actor } from '../actor.ts'
import type { MembershipStore } from '../members/store/membership-store.ts'
import type { PersonStore } from '../people/store/person-store.ts'
import { type Operation, requireAccess } from '../permissions.ts'
import { requireSession } from '../sessions/sessions.ts'
import type { SessionStore } from '../sessions/store/session-store.ts'
import type { WorkspaceStore } from '../workspaces/store/workspace-store.ts'
import { findActor, type MakerStores } from './find-actor.ts'

/** The stores that are read to judge who changes a right. */
export type ActingStores = MakerStores & {
  readonly people: Pick<PersonStore, 'findById' | 'lock' | 'lockOperators'>
  readonly memberships: Pick<MembershipStore, 'find' | 'lock'>
  readonly sessions: Pick<SessionStore, 'has'>
  readonly workspaces: Pick<WorkspaceStore, 'findById'>
}

/** What a right is changed of, and when. */
export type ActingOn = {
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
  const current = { ...found, sessionId, hasAuthenticatedRecently, requestId }
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
