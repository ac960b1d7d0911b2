import type {
  InvitationDetailsResource,
  InvitationResource,
  MemberResource,
} from '@terse/contract/members'
import { formatInstant } from '../../platform/time/clock.ts'
import type { Invitation } from './invitation.ts'
import type { InvitationDetails } from './invitations.ts'
import type { ShownMember } from './membership.ts'

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
