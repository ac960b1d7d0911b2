import type { WebhookEvent } from '@terse/contract/webhook-events'
import type { AttemptFault, DisabledReason } from '@terse/contract/webhooks'
import type { Kysely, Selectable } from 'kysely'
import type { Page } from '../../platform/http/api/pagination.ts'
import type { Schema } from '../../storage/schema.ts'
import { StaleRow } from '../../storage/store.ts'
import type { Webhook, WebhookQueue } from '../webhook.ts'

export type WebhookStore = {
  /** In the order in which they were created. */
  page(workspaceId: string, offset: number, limit: number): Promise<Page<Webhook>>
  find(workspaceId: string, id: string): Promise<Webhook | undefined>
  /** Finds an endpoint of any workspace. */
  findAny(id: string): Promise<Webhook | undefined>
  count(workspaceId: string): Promise<number>
  /** The enabled endpoints of workspaces that are not deleted. */
  listEnabled(workspaceIds: readonly string[]): Promise<readonly Webhook[]>
  /** Whether the instance has an enabled endpoint. */
  hasEnabled(): Promise<boolean>
  /** The workspaces with an enabled endpoint for an event. */
  workspacesFor(event: WebhookEvent): Promise<readonly string[]>
  insert(webhook: Webhook): Promise<void>
  /** @throws {StaleRow} when it was changed since it was read as `before` */
  update(webhook: Webhook, before: Webhook): Promise<void>
  /** Deletes an endpoint, whose messages are then erased in steps. Returns whether there was one. */
  delete(workspaceId: string, id: string): Promise<boolean>
  findQueues(ids: readonly string[]): Promise<ReadonlyMap<string, WebhookQueue>>
}

export type WebhookRow = Selectable<Schema['webhooks']>

export function webhookOf({
  is_ordered,
  events,
  domains,
  tags,
  disabled_reason,
  ...row
}: WebhookRow): Webhook {
  return {
    ...row,
    events: JSON.parse(events),
    domains: JSON.parse(domains),
    tags: JSON.parse(tags),
    ordered: is_ordered !== 0,
    disabled_reason: disabled_reason as DisabledReason | null,
  }
}

function rowOf({ ordered, events, domains, tags, ...webhook }: Webhook): WebhookRow {
  return {
    ...webhook,
    events: JSON.stringify(events),
    domains: JSON.stringify(domains),
    tags: JSON.stringify(tags),
    is_ordered: Number(ordered),
  }
}

const QUEUE_COLUMNS = [
  'webhook_id',
  'next_at',
  'failures',
  'failing_since',
  'fault',
  'fault_status',
  'clicked_at',
] as const

/** The columns of a queue, of a table that a query calls `alias`. */
export function queueColumns<A extends string>(alias: A) {
  return QUEUE_COLUMNS.map((column) => `${alias}.${column}` as const)
}

export function queueOf(
  row: Pick<Selectable<Schema['webhook_queues']>, (typeof QUEUE_COLUMNS)[number]>,
): WebhookQueue {
  const { webhook_id, next_at, failures, failing_since, fault, fault_status, clicked_at } = row
  const known = { webhook_id, next_at, failures, failing_since, fault_status, clicked_at }
  return { ...known, fault: fault as AttemptFault | null }
}

/** Tables of which an endpoint has a few rows, which are deleted with it. */
const OF_WEBHOOK = ['webhook_queues', 'webhook_tallies', 'webhook_replays'] as const

export function webhookStore(db: Kysely<Schema>): WebhookStore {
  return { ...webhookReads(db), ...enabledWebhooks(db), ...webhookWrites(db) }
}

function enabledWebhooks(
  db: Kysely<Schema>,
): Pick<WebhookStore, 'listEnabled' | 'hasEnabled' | 'workspacesFor'> {
  const enabled = () =>
    db
      .selectFrom('webhooks')
      .innerJoin('workspaces', 'workspaces.id', 'webhooks.workspace_id')
      .where('webhooks.disabled_at', 'is', null)
      .where('workspaces.deleted_at', 'is', null)

  return {
    async listEnabled(workspaceIds) {
      if (workspaceIds.length === 0) return []
      const rows = await enabled()
        .selectAll('webhooks')
        .where('webhooks.workspace_id', 'in', workspaceIds)
        .orderBy('webhooks.id')
        .execute()
      return rows.map(webhookOf)
    },

    async hasEnabled() {
      return (await enabled().select('webhooks.id').limit(1).executeTakeFirst()) !== undefined
    },

    async workspacesFor(event) {
      const rows = await enabled()
        .select('webhooks.workspace_id')
        .distinct()
        .where('webhooks.events', 'like', `%"${event}"%`)
        .execute()
      return rows.map(({ workspace_id }) => workspace_id)
    },
  }
}

function webhookReads(
  db: Kysely<Schema>,
): Pick<WebhookStore, 'page' | 'find' | 'findAny' | 'count' | 'findQueues'> {
  async function count(workspaceId: string): Promise<number> {
    const row = await db
      .selectFrom('webhooks')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirstOrThrow()
    return Number(row.count)
  }

  return {
    async page(workspaceId, offset, limit) {
      const rows = await db
        .selectFrom('webhooks')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .orderBy('created_at')
        .orderBy('id')
        .limit(limit)
        .offset(offset)
        .execute()
      return { items: rows.map(webhookOf), total: await count(workspaceId) }
    },

    async find(workspaceId, id) {
      const row = await db
        .selectFrom('webhooks')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row && webhookOf(row)
    },

    async findAny(id) {
      const row = await db
        .selectFrom('webhooks')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst()
      return row && webhookOf(row)
    },

    count,

    async findQueues(ids) {
      if (ids.length === 0) return new Map()
      const rows = await db
        .selectFrom('webhook_queues')
        .select(QUEUE_COLUMNS)
        .where('webhook_id', 'in', ids)
        .execute()
      return new Map(rows.map((row) => [row.webhook_id, queueOf(row)]))
    },
  }
}

function webhookWrites(db: Kysely<Schema>): Pick<WebhookStore, 'insert' | 'update' | 'delete'> {
  return {
    async insert(webhook) {
      const { id, workspace_id } = webhook
      await db.insertInto('webhooks').values(rowOf(webhook)).execute()
      await db
        .insertInto('webhook_queues')
        .values({
          webhook_id: id,
          workspace_id,
          next_at: null,
          failures: 0,
          failing_since: null,
          fault: null,
          fault_status: null,
          clicked_at: 0,
          fence: 0,
          lease_holder: null,
          lease_until: null,
        })
        .execute()
    },

    async update(webhook, before) {
      const { id, workspace_id, created_at, ...values } = rowOf(webhook)
      const { numUpdatedRows } = await db
        .updateTable('webhooks')
        .set(values)
        .where('id', '=', before.id)
        .where('updated_at', '=', before.updated_at)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw new StaleRow()
    },

    async delete(workspaceId, id) {
      const { numDeletedRows } = await db
        .deleteFrom('webhooks')
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .executeTakeFirst()
      if (numDeletedRows === 0n) return false
      for (const table of OF_WEBHOOK) {
        // Their columns of this name are the same to a query.
        const name = table as 'webhook_queues'
        await db.deleteFrom(name).where('webhook_id', '=', id).execute()
      }
      return true
    },
  }
}
