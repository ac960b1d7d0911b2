import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { WebhookEvent } from '@terse/contract/webhook-events'
import type { AttemptResource, WebhookResource } from '@terse/contract/webhooks'
import { request } from './request.ts'

export type { AttemptResource, WebhookEvent, WebhookResource }

/** In groups, as forms show them. */
export const WEBHOOK_GROUPS = {
  links: ['link.created', 'link.changed', 'link.deleted', 'link.expired', 'link.limit_reached'],
  visitors: ['link.clicked', 'conversion.recorded'],
  domains: ['domain.active', 'domain.lost', 'certificate.failed'],
  workspace: ['member.changed', 'job.finished'],
} as const satisfies Readonly<Record<string, readonly WebhookEvent[]>>

/** Every key of a query about webhooks begins so. */
export const WEBHOOKS_KEY = ['webhooks'] as const

const REFRESH_MS = 5_000

/** A workspace has no more. */
const WEBHOOKS_MAX = 100

type WebhookPage = { readonly data: readonly WebhookResource[] }

export const webhooksQuery = queryOptions({
  queryKey: [...WEBHOOKS_KEY, 'list'],
  async queryFn({ signal }) {
    const query = { per_page: WEBHOOKS_MAX }
    const page = await request<WebhookPage>('GET', '/webhooks', { query, signal })
    return page.data
  },
  refetchInterval: REFRESH_MS,
})

export function webhookQuery(id: string) {
  return queryOptions({
    queryKey: [...WEBHOOKS_KEY, 'one', id],
    queryFn: ({ signal }) => request<WebhookResource>('GET', `/webhooks/${id}`, { signal }),
    refetchInterval: REFRESH_MS,
  })
}

type AttemptPage = {
  readonly data: readonly AttemptResource[]
  readonly meta: { readonly next_cursor: string | null }
}

const ATTEMPTS_PER_PAGE = 50

export type AttemptFilter = {
  readonly onlyFailed: boolean
  /** Undefined for every event. */
  readonly event: AttemptResource['event'] | undefined
}

export function attemptsQuery(id: string, { onlyFailed, event }: AttemptFilter) {
  const filter = { per_page: ATTEMPTS_PER_PAGE, failed: onlyFailed ? 'true' : undefined, event }
  return infiniteQueryOptions({
    queryKey: [...WEBHOOKS_KEY, 'attempts', id, onlyFailed, event],
    queryFn: ({ signal, pageParam: cursor }) =>
      request<AttemptPage>('GET', `/webhooks/${id}/attempts`, {
        query: { ...filter, cursor },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.next_cursor,
    refetchInterval: REFRESH_MS,
  })
}

/** What is left out stays. */
export type WebhookChange = {
  readonly name?: string
  readonly url?: string
  readonly events?: readonly WebhookEvent[]
  readonly domains?: readonly string[]
  readonly tags?: readonly string[]
  readonly ordered?: boolean
  readonly enabled?: boolean
}

export type SecretWebhook = WebhookResource & { readonly secret: string }

export function createWebhook(
  webhook: WebhookChange & { readonly url: string },
): Promise<SecretWebhook> {
  return request('POST', '/webhooks', { body: webhook })
}

export function changeWebhook(id: string, change: WebhookChange): Promise<WebhookResource> {
  return request('PATCH', `/webhooks/${id}`, { body: change })
}

export function deleteWebhook(id: string): Promise<unknown> {
  return request('DELETE', `/webhooks/${id}`)
}

export function rotateSecret(id: string): Promise<SecretWebhook> {
  return request('POST', `/webhooks/${id}/secret`, { body: {} })
}

export function endOldSecret(id: string): Promise<unknown> {
  return request('DELETE', `/webhooks/${id}/old-secret`)
}

export function testWebhook(id: string): Promise<AttemptResource> {
  return request('POST', `/webhooks/${id}/test`)
}

/** Sends one call again, or the events of a period. */
export function replay(
  id: string,
  wanted: { readonly message_id: string } | ReplayedPeriod,
): Promise<WebhookResource> {
  return request('POST', `/webhooks/${id}/replay`, { body: wanted })
}

export type ReplayedPeriod = {
  readonly from: string
  readonly to?: string
  readonly undelivered: boolean
}

/** How many calls a replay would make. */
export function replaySizeQuery(id: string, period: ReplayedPeriod | undefined) {
  return queryOptions({
    queryKey: [...WEBHOOKS_KEY, 'replay size', id, period],
    async queryFn({ signal }) {
      const body = { ...period, dry_run: true }
      const answer = { body, signal }
      const webhook = await request<WebhookResource>('POST', `/webhooks/${id}/replay`, answer)
      return webhook.replay
    },
    enabled: period !== undefined,
    retry: false,
  })
}
