import { queryOptions } from '@tanstack/react-query'
import type {
  CreatedInvitationResource,
  InvitationDetailsResource,
  InvitationResource,
  MemberResource,
} from '@terse/contract/members'
import type { OneTimeLinkResource } from '@terse/contract/sign-in'
import { request } from './request.ts'
import { requestAll } from './request-all.ts'
import type { Role, Session } from './session.ts'

export type {
  CreatedInvitationResource,
  InvitationDetailsResource,
  InvitationResource,
  MemberResource,
  OneTimeLinkResource,
}

export const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: ({ signal }) => requestAll<MemberResource>('/members', { signal }),
  staleTime: 5_000,
})

export const invitationsQuery = queryOptions({
  queryKey: ['invitations'],
  queryFn: ({ signal }) => requestAll<InvitationResource>('/invitations', { signal }),
  staleTime: 5_000,
})

export function setRole(id: string, role: Role): Promise<MemberResource> {
  return request('PATCH', `/members/${id}`, { body: { role } })
}

export function removeMember(id: string): Promise<unknown> {
  return request('DELETE', `/members/${id}`)
}

export function makeMemberResetLink(id: string): Promise<OneTimeLinkResource> {
  return request('POST', `/members/${id}/password-reset`)
}

export function invite(email: string, role: Role): Promise<CreatedInvitationResource> {
  return request('POST', '/invitations', { body: { email, role } })
}

export function withdrawInvitation(id: string): Promise<unknown> {
  return request('DELETE', `/invitations/${id}`)
}

/** What the code of an invitation leads to. It is not used by this. */
export function lookUpInvitation(code: string): Promise<InvitationDetailsResource> {
  return request('POST', '/invitations/look-up', { body: { code }, isSilent: true })
}

/** @param account name and password of a new person; a new password of one whose address is unproved */
export function acceptInvitation(
  code: string,
  account: { readonly name?: string; readonly password?: string } = {},
): Promise<Session> {
  return request('POST', '/invitations/accept', { body: { code, ...account }, isSilent: true })
}
