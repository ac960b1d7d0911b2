import { queryOptions } from '@tanstack/react-query'
import type {
  CreatedInvitationResource,
  InvitationDetailsResource,
  InvitationResource,
  MemberResource,
} from '@terse/contract/members'
import type { OneTimeLinkResource } from '@terse/contract/sign-in'
import type { UsageResource } from '@terse/contract/usage'
import type { WorkspaceResource } from '@terse/contract/workspaces'
import { LINKS_KEY } from './links.ts'
import { USAGE_READ } from './reads.ts'
import { request, requestAll, requestRaw } from './request.ts'
import type { Role, Session } from './session.ts'

export type {
  CreatedInvitationResource,
  InvitationDetailsResource,
  InvitationResource,
  MemberResource,
  OneTimeLinkResource,
  UsageResource,
  WorkspaceResource,
}

/** The workspaces of the person; all of them for an operator. */
export const workspacesQuery = queryOptions({
  queryKey: ['workspaces'],
  queryFn: ({ signal }) => requestAll<WorkspaceResource>('/workspaces', { signal }),
  staleTime: 5_000,
})

/** A change of links changes it too. */
export const usageQuery = queryOptions({
  queryKey: [...LINKS_KEY, 'usage'],
  queryFn: ({ signal }) => request<UsageResource>('GET', USAGE_READ.path, { signal }),
  staleTime: 5_000,
})

/** Its slug follows from the title. */
export function createWorkspace(title: string): Promise<WorkspaceResource> {
  return request('POST', '/workspaces', { body: { title } })
}

export function changeWorkspace(
  id: string,
  changes: { readonly title?: string; readonly name?: string },
): Promise<WorkspaceResource> {
  return request('PATCH', `/workspaces/${id}`, { body: changes })
}

export function deleteWorkspace(id: string): Promise<unknown> {
  return request('DELETE', `/workspaces/${id}`)
}

export function leaveWorkspace(id: string): Promise<unknown> {
  return request('DELETE', `/workspaces/${id}/membership`)
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

export type ExportFormat = 'ndjson' | 'csv-zip'

/** Everything of the workspace, as one file. */
export async function exportWorkspace(format: ExportFormat, clicks: boolean): Promise<Blob> {
  return (await requestRaw('/export', { query: { format, clicks } })).blob()
}
