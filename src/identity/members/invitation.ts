import type { Role } from '@terse/contract/roles'
import type { NewEvent } from '../../platform/events/event-writer.ts'
import type { FoundLink, OneTimeLink } from '../one-time-links/one-time-link.ts'

/** An open invitation: a one-time link that has an address, a workspace and a role. */
export type Invitation = OneTimeLink & {
  readonly email: string
  readonly email_folded: string
  readonly workspace_id: string
  readonly role: Role
}

/** @throws for a link of another kind */
export function invitationOf(link: OneTimeLink): Invitation {
  const { email, email_folded, workspace_id, role } = link
  if (email === null || email_folded === null || workspace_id === null || role === null) {
    throw new Error(`the one-time link ${link.id} is no invitation`)
  }
  return { ...link, email, email_folded, workspace_id, role }
}

export function invitationEvent(
  type: 'invitation.created' | 'invitation.deleted' | 'invitation.accepted',
  { id, email, role }: Invitation,
): NewEvent {
  const fields = { email, role }
  return type === 'invitation.created'
    ? { type, subjectId: id, before: null, after: fields }
    : { type, subjectId: id, before: fields, after: null }
}

/**
 * Whether the code by which an invitation was found creates an account. Where invitations are mailed, only the mailed one
 * does: whoever invites has seen the other, and would learn whether the address has an account, or prepare one for its
 * owner. Operators, who know all accounts, hand theirs over from the command line.
 */
export function canCreateAccount(
  { is_mailed, created_by_kind }: Pick<FoundLink, 'is_mailed' | 'created_by_kind'>,
  sendsMail: boolean,
): boolean {
  return is_mailed || !sendsMail || created_by_kind === 'system'
}

/** The page that accepts an invitation. Browsers do not send what is behind `#`, so no log has the code. */
export function invitationAddress(baseUrl: string, code: string): string {
  return `${baseUrl}/app/invitation#code=${code}`
}
