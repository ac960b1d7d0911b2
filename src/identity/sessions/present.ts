import type { PersonResource, SessionEntryResource, SessionResource } from '@terse/contract/sign-in'
import { formatInstant } from '../../platform/time/clock.ts'
import type { Person } from '../people/person.ts'
import { expiryOf, type Session } from './session.ts'
import type { SignedIn } from './session-cache.ts'

export function presentPerson({
  id,
  email,
  name,
  is_operator,
  email_proved_at,
  created_at,
}: Person): PersonResource {
  const shown = { id, email, name, is_operator, is_email_proved: email_proved_at !== null }
  return { ...shown, created_at: formatInstant(created_at) }
}

/** @param baseUrl the address of the service */
export function presentSession(
  { session, person, memberships }: SignedIn,
  baseUrl: string,
): SessionResource {
  return {
    id: session.id,
    person: presentPerson(person),
    memberships: memberships.map(({ workspace_id, workspace_name, workspace_title, role }) => ({
      workspace_id,
      workspace_name,
      workspace_title,
      role,
    })),
    service_host: new URL(baseUrl).hostname,
    authenticated_at: formatInstant(session.authenticated_at),
    expires_at: formatInstant(expiryOf(session)),
  }
}

export function presentEntry(session: Session, current: Session): SessionEntryResource {
  return {
    id: session.id,
    device: session.device,
    is_current: session.id === current.id,
    created_at: formatInstant(session.created_at),
    last_seen_at: formatInstant(session.last_seen_at),
  }
}
