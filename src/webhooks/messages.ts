import type { LiveClick } from '@terse/contract/clicks'
import type { EventResource } from '@terse/contract/events'
import { TEST_EVENT, WEBHOOK_EVENTS, type WebhookEvent } from '@terse/contract/webhook-events'
import type { Event } from '../events/index.ts'
import { shortLink } from '../links/index.ts'
import { formatInstant } from '../platform/time/clock.ts'
import type { NewMessage, Webhook } from './webhook.ts'

/** What calls say of a link, and filters look at. */
export type LinkFacts = {
  readonly id: string
  readonly domain: string
  readonly key: string
  readonly url: string
  readonly tags: readonly string[]
}

const TYPES = Object.entries(WEBHOOK_EVENTS) as [
  WebhookEvent,
  { about: string; from: readonly EventResource['type'][] },
][]

/** The event of webhooks that each type of the event log becomes. */
const OF_LOG: ReadonlyMap<string, WebhookEvent> = new Map(
  TYPES.flatMap(([name, { from }]) => from.map((type) => [type, name] as const)),
)

/** Returns what an entry of the event log is to webhooks; undefined for one that they are not called for. */
export function webhookEventOf({ type }: Pick<Event, 'type'>): WebhookEvent | undefined {
  return OF_LOG.get(type)
}

/** Returns the types of the event log that become one of these events. */
export function logTypesOf(events: readonly WebhookEvent[]): EventResource['type'][] {
  return TYPES.flatMap(([name, { from }]) => (events.includes(name) ? from : []))
}

/** Returns the link that an event is about, or that brought a conversion; undefined for other events. */
export function linkIdOf(
  event: WebhookEvent,
  { subjectId, after }: Pick<Event, 'subjectId' | 'after'>,
): string | undefined {
  const { about } = WEBHOOK_EVENTS[event]
  if (about === 'link') return subjectId
  const id = about === 'conversion' ? after?.link_id : undefined
  return typeof id === 'string' ? id : undefined
}

/** A link as an event left it; undefined for one that is gone and of which the event says too little. */
export function linkFacts(
  { subjectId, before, after }: Pick<Event, 'subjectId' | 'before' | 'after'>,
  found: LinkFacts | undefined,
): LinkFacts | undefined {
  if (found !== undefined) {
    const { id, domain, key, url, tags } = found
    return { id, domain, key, url, tags }
  }
  const { domain, key, url, tags = [] } = { ...before, ...after } as Partial<LinkFacts>
  if (domain === undefined || key === undefined || url === undefined) return undefined
  return { id: subjectId, domain, key, url, tags }
}

/** What an event concerns, for the filters of endpoints. */
export type Concern = {
  readonly link?: LinkFacts | undefined
  readonly domain?: string | undefined
}

function isOfLink(event: WebhookEvent): boolean {
  const { about } = WEBHOOK_EVENTS[event]
  return about === 'link' || about === 'conversion'
}

/** Whether an endpoint is called for an event. */
export function isWanted(
  { events, domains, tags }: Pick<Webhook, 'events' | 'domains' | 'tags'>,
  event: WebhookEvent,
  { link, domain = link?.domain }: Concern,
): boolean {
  if (!events.includes(event)) return false
  if (isOfLink(event) && (domains.length > 0 || tags.length > 0)) {
    if (link === undefined) return false
    if (tags.length > 0 && !link.tags.some((tag) => tags.includes(tag))) return false
  }
  return domains.length === 0 || domain === undefined || domains.includes(domain)
}

/** Returns the domain that an event is about; undefined for other events. */
export function domainOf(event: WebhookEvent, { before, after }: Event): string | undefined {
  if (WEBHOOK_EVENTS[event].about !== 'domain') return undefined
  const { domain } = { ...before, ...after }
  return typeof domain === 'string' ? domain : undefined
}

/** Makes the call for an entry of the event log. The same entry makes the same call, whichever node makes it. */
export function messageOf(event: WebhookEvent, logged: Event, concern: Concern): NewMessage {
  const { about } = WEBHOOK_EVENTS[event]
  const { at, sequence, workspaceId, type, subjectId, actor, before, after } = logged
  const { link, domain } = concern
  const data = {
    workspace_id: workspaceId,
    sequence,
    logged_as: type,
    subject_id: subjectId,
    actor,
    before,
    after,
    ...(isOfLink(event) && { link: link ? { ...link, link: shortLink(link) } : null }),
    ...(about === 'domain' && { domain: domain ?? '' }),
  }
  return {
    // With the instant: a database that was restored numbers events again.
    message_id: `evt_${at.toString(36)}_${sequence.toString(36)}`,
    event,
    is_clicks: 0,
    at,
    summary: summaryOf(logged, concern),
    body: bodyOf(event, at, data),
  }
}

function summaryOf({ type, before, after }: Event, { link, domain }: Concern): string | null {
  if (link !== undefined) return `${link.domain}/${link.key}`
  if (domain !== undefined) return domain
  const { email, name } = { ...before, ...after }
  const named = typeof email === 'string' ? email : typeof name === 'string' ? name : undefined
  return named ?? type
}

function bodyOf(type: string, atMicros: number, data: object): string {
  return JSON.stringify({ type, timestamp: formatInstant(atMicros), data })
}

/** Makes a call with clicks, which must be at least one. */
export function clicksMessage(
  id: string,
  workspaceId: string,
  clicks: readonly LiveClick[],
  now: number,
): NewMessage {
  const links = new Set(clicks.map(({ domain, key }) => `${domain}/${key}`)).size
  const count = clicks.reduce((sum, click) => sum + click.count, 0)
  return {
    message_id: `clk_${id.replaceAll('-', '')}`,
    event: 'link.clicked' satisfies WebhookEvent,
    is_clicks: 1,
    at: now,
    summary: `${count} / ${links}`,
    body: bodyOf('link.clicked', now, { workspace_id: workspaceId, clicks }),
  }
}

/** Makes the call of a test. */
export function testMessage(id: string, { workspace_id, name }: Webhook, now: number): NewMessage {
  const message = `This is a test of the webhook "${name}". Nothing has happened.`
  return {
    message_id: `test_${id.replaceAll('-', '')}`,
    event: TEST_EVENT,
    is_clicks: 0,
    at: now,
    summary: null,
    body: bodyOf(TEST_EVENT, now, { workspace_id, message }),
  }
}
