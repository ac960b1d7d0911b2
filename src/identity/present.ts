import type {
  InvitationDetailsResource,
  InvitationResource,
  MemberResource,
} from '@terse/contract/members'
import type { PersonResource, SessionEntryResource, SessionResource } from '@terse/contract/sign-in'
import type { FastifyReply } from 'fastify'
import { Failure } from '../platform/failure.ts'
import { formatInstant } from '../platform/time/clock.ts'
import type { InvitationDetails } from './members/invitations.ts'
import type { Invitation } from './one-time-links.ts'
import type { Person } from './people/person.ts'
import { expiryOf, type Session, type SessionCookie } from './sign-in/session.ts'
import type { OpenedSession, SessionCache, SignedIn } from './sign-in/sessions.ts'
import type { ShownMember } from './store/membership-store.ts'

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

export function presentMember(member: ShownMember): MemberResource {
  const { person, role, source, joinedAt, hasSecondFactor, lastSeenAt } = member
  return {
    id: person.id,
    email: person.email,
    name: person.name,
    role,
    is_from_groups: source === 'groups',
    is_email_proved: person.email_proved_at !== null,
    is_disabled: person.disabled_at !== null,
    has_second_factor: hasSecondFactor,
    joined_at: formatInstant(joinedAt),
    last_seen_at: lastSeenAt === null ? null : formatInstant(lastSeenAt),
  }
}

export function presentInvitation(invitation: Invitation): InvitationResource {
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    invited_by: invitation.created_by,
    created_at: formatInstant(invitation.created_at),
    expires_at: formatInstant(invitation.expires_at),
  }
}

export function presentDetails(details: InvitationDetails): InvitationDetailsResource {
  const { invitation, accountExists, canCreateAccount } = details
  return {
    email: invitation.email,
    workspace_name: details.workspaceName,
    workspace_title: details.workspaceTitle,
    role: invitation.role,
    account_exists: accountExists ?? null,
    can_create_account: canCreateAccount,
    expires_at: formatInstant(invitation.expires_at),
  }
}

/** Answers with a new or renewed session, whose secret goes into the cookie. */
export type AnswerSession = (reply: FastifyReply, opened: OpenedSession) => Promise<SessionResource>

export function answerSessions(deps: {
  readonly sessionCache: SessionCache
  readonly sessionCookie: SessionCookie
  readonly baseUrl: string
}): AnswerSession {
  return async (reply, { secret }) => {
    const signedIn = await deps.sessionCache.find(secret)
    // Possible where it was ended by another request at the same time.
    if (signedIn === undefined) throw Failure.unauthorized({ code: 'session_ended' })
    reply.header('Set-Cookie', deps.sessionCookie.issue(secret))
    return presentSession(signedIn, deps.baseUrl)
  }
}
