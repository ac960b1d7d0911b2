import type { EventAuthor, EventWriter, NewEvent } from '../../platform/events/event-writer.ts'
import type { MembershipStore } from '../members/store/membership-store.ts'
import { type Person, personCreated } from '../people/person.ts'
import type { PersonStore } from '../people/store/person-store.ts'

export type FirstPersonStores = {
  readonly people: PersonStore
  readonly memberships: MembershipStore
  readonly events: EventWriter
}

/**
 * Inserts the first person, within a transaction that has locked and checked that there is none, as owner of
 * every workspace without one.
 */
export async function insertFirstPerson(
  { people, memberships, events }: FirstPersonStores,
  author: EventAuthor,
  person: Person,
): Promise<void> {
  const { id, created_at: now } = person
  await people.insert(person)
  await events.append(author, personCreated(person), now)
  for (const workspaceId of await memberships.workspacesWithoutOwner()) {
    const membership = { workspace_id: workspaceId, person_id: id, role: 'owner' } as const
    await memberships.insert({ ...membership, created_at: now, source: 'hand' })
    await events.append({ ...author, workspaceId }, ownerAdded(person), now)
  }
}

function ownerAdded({ id, email }: Person): NewEvent {
  return { type: 'member.added', subjectId: id, before: null, after: { email, role: 'owner' } }
}
