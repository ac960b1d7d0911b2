import { queryOptions } from '@tanstack/react-query'
import type { UsageResource } from '@terse/contract/usage'
import type { WorkspaceResource } from '@terse/contract/workspaces'
import { LINKS_KEY } from './links.ts'
import { USAGE_READ } from './reads.ts'
import { request } from './request.ts'
import { requestAll } from './request-all.ts'

export type { UsageResource, WorkspaceResource }

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
