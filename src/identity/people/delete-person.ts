import { randomUUID } from 'node:crypto'
import type { Fault } from '@terse/contract/faults'
import { type ChangeLog, sessionChange } from '../../platform/changes/changes.ts'
import { INSTANCE } from '../../platform/events/event-writer.ts'
import { Failure } from '../../platform/failure.ts'
import type { Actor } from '../actor.ts'
import type { ErasureStore } from '../erasures/store/erasure-store.ts'
import { endLostGrants, type GrantStores } from '../grants/grants.ts'
import { type ActingStores, requireActor } from '../grants/require-actor.ts'
import type { NamedMembership } from '../members/membership.ts'
import { foldEmail } from './email.ts'

/** The stores in which a person has rows. */
export type PersonDeletionStores = GrantStores &
  ActingStores & {
    readonly erasures: Pick<ErasureStore, 'notePerson' | 'formerAddresses'>
    readonly changes: ChangeLog
  }

/**
 * Deletes a person with all sessions, factors and memberships, as the first step of a transaction. Tokens stay with
 * their workspaces. The event log is erased later.
 *
 * @throws {Failure} `not_found`; `validation_failed` for the last operator, and the last owner of a workspace; as
 *   `requireActor`
 */
export async function deletePerson(
  stores: PersonDeletionStores,
  actor: Actor,
  id: string,
  now: number,
): Promise<void> {
  let owned: readonly NamedMembership[] = []
  const author = await requireActor(stores, actor, 'people.delete', {
    nowMicros: now,
    personId: id,
    async workspacesOf() {
      owned = (await stores.memberships.listOfPerson(id)).filter(({ role }) => role === 'owner')
      return owned.map(({ workspace_id }) => workspace_id)
    },
  })
  const person = await stores.people.findById(id)
  if (person === undefined) throw Failure.notFound('Person')
  const { email_folded } = person
  await stores.tokens.forgetCreator(id)
  await stores.oneTimeLinks.deleteOfAddress(email_folded)
  await stores.people.delete(id)
  await endLostGrants(stores, id, now)
  // Links that were used name the person too.
  await stores.oneTimeLinks.deleteMadeBy(id)
  const isLastOperator = person.is_operator && (await stores.people.countOperators()) === 0
  if (isLastOperator) throw refusal({ code: 'last_operator', reason: 'deletion' })
  for (const { workspace_id, workspace_name } of owned) {
    if ((await stores.memberships.countOwners(workspace_id)) > 0) continue
    throw refusal({ code: 'last_owner', reason: 'deletion', workspace: workspace_name })
  }
  await stores.erasures.notePerson({ id, email_folded, deleted_at: now })
  await forgetFormerAddresses(stores, id, now)
  await stores.changes.append(sessionChange(id), now)
  // The identifier of the person would keep the event from staying.
  const event = { type: 'person.deleted', subjectId: INSTANCE, before: null, after: null } as const
  await stores.events.append(author, event, now)
}

/** Invitations to an address that the person had before name the person too, unless another person has the address now. */
async function forgetFormerAddresses(
  stores: PersonDeletionStores,
  id: string,
  now: number,
): Promise<void> {
  const former = await stores.erasures.formerAddresses(id)
  for (const email_folded of new Set(former.map(foldEmail))) {
    if ((await stores.people.findByEmail(email_folded)) !== undefined) continue
    await stores.oneTimeLinks.deleteOfAddress(email_folded)
    await stores.erasures.notePerson({ id: randomUUID(), email_folded, deleted_at: now })
  }
}

function refusal(fault: Fault): Failure {
  return Failure.invalid({ id: [fault] })
}
