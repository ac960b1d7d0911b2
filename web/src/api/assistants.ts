import { queryOptions } from '@tanstack/react-query'
import type {
  AssistantPreview,
  AssistantResource,
  AssistantScope,
  AuthorizationRequest,
} from '@terse/contract/assistants'
import { request, requestAll } from './request.ts'

export type { AssistantPreview, AssistantResource, AssistantScope, AuthorizationRequest }

export const ASSISTANT_SCOPES = [
  'links:read',
  'clicks:read',
  'links:write',
  'links:delete',
] as const satisfies readonly AssistantScope[]

export const assistantsQuery = queryOptions({
  queryKey: ['assistants'],
  queryFn: ({ signal }) => requestAll<AssistantResource>('/assistants', { signal }),
  staleTime: 5_000,
})

type Settings = { readonly enabled: boolean; readonly address: string }

export const assistantSettingsQuery = queryOptions({
  queryKey: ['assistant-settings'],
  queryFn: ({ signal }) => request<Settings>('GET', '/assistants/settings', { signal }),
  staleTime: 5_000,
})

export function enableAssistants(enabled: boolean): Promise<Settings> {
  return request('PUT', '/assistants/settings', { body: { enabled } })
}

export function withdrawAssistant(id: string): Promise<unknown> {
  return request('DELETE', `/assistants/${id}`)
}

export function previewAssistant(asked: AuthorizationRequest): Promise<AssistantPreview> {
  return request('POST', '/assistants/preview', { body: asked })
}

type Decision = {
  readonly request: AuthorizationRequest
  readonly workspace_id: string
  readonly scopes: readonly AssistantScope[]
  readonly days: number
}

/** Returns the address of the program, with the code that it waits for. */
export async function allowAssistant(decision: Decision): Promise<string> {
  const allowed = await request<{ readonly redirect_to: string }>('POST', '/assistants', {
    body: decision,
  })
  return allowed.redirect_to
}
