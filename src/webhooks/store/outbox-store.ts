import type { WebhookEvent } from '@terse/contract/webhook-events'
import { type Kysely, type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import type { Schema } from '../../storage/schema.ts'

/** What the outbox reads: the event log, and the clicks that were ingested. */
type FeedName = 'events' | 'clicks'

/** Another process has done the step. The transaction must not continue. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken'
}

export type Cursor = { readonly position: string; readonly revision: number }

/** The replay of a period at an endpoint. Times are microseconds since the epoch. */
export type Replay = {
  readonly webhook_id: string
  readonly fromMicros: number
  readonly toMicros: number
  readonly events: readonly WebhookEvent[]
  readonly onlyUndelivered: boolean
  /** The last event that was queued. */
  readonly after: { readonly at: number; readonly sequence: number }
  readonly queued: number
  readonly done_at: number | null
  readonly revision: number
}

/** How far messages were made, so that each node goes on where another stopped. */
export type OutboxStore = {
  findCursor(feed: FeedName): Promise<Cursor | undefined>
  /** Begins to read a feed at a position, unless it is being read. */
  begin(feed: FeedName, position: string): Promise<void>
  /** @throws {Overtaken} when another process has moved it since it was read as `before` */
  move(feed: FeedName, position: string, before: Cursor): Promise<void>
  /** Stops to read a feed, unless an endpoint that needs it was added since it was read as `before`. */
  end(feed: FeedName, before: Cursor): Promise<void>
  /** Begins a replay, in place of the one before. */
  putReplay(replay: Omit<Replay, 'revision'>): Promise<void>
  findReplays(webhookIds: readonly string[]): Promise<ReadonlyMap<string, Replay>>
  listOpenReplays(limit: number): Promise<readonly Replay[]>
  /** @throws {Overtaken} when another process has gone on with it */
  updateReplay(replay: Replay): Promise<void>
  /** How many messages wait at an endpoint, counted up to `max`. */
  countWaiting(webhookId: string, max: number): Promise<number>
  /** How many messages of these events an endpoint has from a period, counted up to `max`. */
  countPeriod(
    webhookId: string,
    period: Pick<Replay, 'fromMicros' | 'toMicros' | 'events' | 'onlyUndelivered'>,
    max: number,
  ): Promise<number>
  /** Which of these messages an endpoint has received. */
  deliveredAmong(webhookId: string, messageIds: readonly string[]): Promise<ReadonlySet<string>>
  /** The endpoints at which more than `max` messages wait. */
  listOverflowing(max: number): Promise<readonly string[]>
}

function replayOf(row: Selectable<Schema['webhook_replays']>): Replay {
  const { webhook_id, queued, done_at, revision } = row
  return {
    ...{ webhook_id, queued, done_at, revision },
    fromMicros: row.from_micros,
    toMicros: row.to_micros,
    events: JSON.parse(row.events),
    onlyUndelivered: row.only_undelivered !== 0,
    after: { at: row.after_at, sequence: row.after_sequence },
  }
}

function rowOf({ fromMicros, toMicros, events, onlyUndelivered, after, ...replay }: Replay) {
  return {
    ...replay,
    from_micros: fromMicros,
    to_micros: toMicros,
    events: JSON.stringify(events),
    only_undelivered: Number(onlyUndelivered),
    after_at: after.at,
    after_sequence: after.sequence,
  }
}

export function outboxStore(db: Kysely<Schema>): OutboxStore {
  return { ...cursors(db), ...replays(db), ...waiting(db) }
}

function cursors(db: Kysely<Schema>): Pick<OutboxStore, 'findCursor' | 'begin' | 'move' | 'end'> {
  return {
    findCursor: (feed) =>
      db
        .selectFrom('webhook_cursors')
        .select(['position', 'revision'])
        .where('feed', '=', feed)
        .executeTakeFirst(),

    async begin(feed, position) {
      await db
        .insertInto('webhook_cursors')
        .values({ feed, position, revision: 0 })
        .onConflict((conflict) =>
          // A process that is about to end the feed then finds it changed.
          conflict
            .column('feed')
            .doUpdateSet((eb) => ({ revision: eb('webhook_cursors.revision', '+', 1) })),
        )
        .execute()
    },

    async move(feed, position, { revision }) {
      const { numUpdatedRows } = await db
        .updateTable('webhook_cursors')
        .set({ position, revision: revision + 1 })
        .where('feed', '=', feed)
        .where('revision', '=', revision)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw new Overtaken()
    },

    async end(feed, { revision }) {
      await db
        .deleteFrom('webhook_cursors')
        .where('feed', '=', feed)
        .where('revision', '=', revision)
        .execute()
    },
  }
}

function replays(
  db: Kysely<Schema>,
): Pick<OutboxStore, 'putReplay' | 'findReplays' | 'listOpenReplays' | 'updateReplay'> {
  return {
    async putReplay(replay) {
      const { webhook_id, ...values } = rowOf({ ...replay, revision: 0 })
      await db
        .insertInto('webhook_replays')
        .values({ webhook_id, ...values })
        .onConflict((conflict) =>
          conflict.column('webhook_id').doUpdateSet((eb) => ({
            ...values,
            revision: eb('webhook_replays.revision', '+', 1),
          })),
        )
        .execute()
    },

    async findReplays(webhookIds) {
      if (webhookIds.length === 0) return new Map()
      const rows = await db
        .selectFrom('webhook_replays')
        .selectAll()
        .where('webhook_id', 'in', webhookIds)
        .execute()
      return new Map(rows.map((row) => [row.webhook_id, replayOf(row)]))
    },

    async listOpenReplays(limit) {
      const rows = await db
        .selectFrom('webhook_replays')
        .selectAll()
        .where('done_at', 'is', null)
        .limit(limit)
        .execute()
      return rows.map(replayOf)
    },

    async updateReplay(replay) {
      const { webhook_id, revision, ...values } = rowOf(replay)
      const { numUpdatedRows } = await db
        .updateTable('webhook_replays')
        .set({ ...values, revision: revision + 1 })
        .where('webhook_id', '=', webhook_id)
        .where('revision', '=', revision)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw new Overtaken()
    },
  }
}

function waiting(
  db: Kysely<Schema>,
): Pick<OutboxStore, 'countWaiting' | 'countPeriod' | 'deliveredAmong' | 'listOverflowing'> {
  return {
    async countWaiting(webhookId, max) {
      const some = db
        .selectFrom('webhook_messages')
        .select('number')
        .where('webhook_id', '=', webhookId)
        .where('next_at', 'is not', null)
        .limit(max)
      return countRows(db, some)
    },

    async countPeriod(webhookId, { fromMicros, toMicros, events, onlyUndelivered }, max) {
      if (events.length === 0) return 0
      const some = db
        .selectFrom('webhook_messages')
        .select('number')
        .where('webhook_id', '=', webhookId)
        .where('at', '>=', fromMicros)
        .where('at', '<', toMicros)
        .where('event', 'in', events)
        .$if(onlyUndelivered, (query) => query.where('delivered_at', 'is', null))
        .limit(max)
      return countRows(db, some)
    },

    async deliveredAmong(webhookId, messageIds) {
      if (messageIds.length === 0) return new Set()
      const rows = await db
        .selectFrom('webhook_messages')
        .select('message_id')
        .where('webhook_id', '=', webhookId)
        .where('message_id', 'in', messageIds)
        .where('delivered_at', 'is not', null)
        .execute()
      return new Set(rows.map(({ message_id }) => message_id))
    },

    async listOverflowing(max) {
      const rows = await db
        .selectFrom('webhook_messages')
        .select('webhook_id')
        .where('next_at', 'is not', null)
        .groupBy('webhook_id')
        .having(sql<boolean>`count(*) > ${max}`)
        .execute()
      return rows.map(({ webhook_id }) => webhook_id)
    },
  }
}

/** Counts in the database: rows that are only counted are not read. */
async function countRows(
  db: Kysely<Schema>,
  rows: SelectQueryBuilder<Schema, 'webhook_messages', object>,
): Promise<number> {
  const { count } = await db
    .selectFrom(rows.as('counted'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}
