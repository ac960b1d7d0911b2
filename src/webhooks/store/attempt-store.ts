import type { AttemptFault } from '@terse/contract/webhooks'
import type { Kysely, Selectable } from 'kysely'
import type { Run } from '../../platform/http/api/pagination.ts'
import type { Schema } from '../../storage/schema.ts'
import type { Outcome } from '../webhook.ts'

/** An attempt as the log has it. */
export type Attempt = Omit<Outcome, 'retryAt' | 'requestHeaders'> & {
  readonly number: number
  readonly message_id: string
  readonly event: string
  readonly summary: string | null
  readonly try: number
  /** When the message is sent again, if this was its last attempt; else null. */
  readonly nextAt: number | null
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly body: string
}

type AttemptFilter = {
  readonly event?: string | undefined
  readonly messageId?: string | undefined
  readonly onlyFailed: boolean
}

/** How an endpoint does. */
export type WebhookHealth = {
  readonly oldestWaitingAt: number | null
  readonly answerMs: { readonly median: number; readonly p95: number } | null
  /** Attempts by half days since the epoch, without those that have none. */
  readonly tallies: readonly { half_day: number; delivered: number; failed: number }[]
}

/** The log of attempts, and what is read from it. */
export type AttemptStore = {
  /** Attempts of an endpoint, newest first. */
  run(
    webhookId: string,
    filter: AttemptFilter,
    run: { readonly beyond: number | undefined; readonly limit: number },
  ): Promise<Run<Attempt, number>>
  health(webhookId: string, sinceHalfDay: number): Promise<WebhookHealth>
  /** Deletes the first attempts and messages from before; true when there may be more. */
  trim(beforeMicros: number): Promise<boolean>
  /** Deletes some of what an endpoint has had beyond the newest `max` attempts; true when there may be more. */
  trimBeyond(webhookId: string, max: number): Promise<boolean>
  /** Deletes some messages and attempts of an endpoint; true when there may be more. */
  erase(webhookId: string): Promise<boolean>
  /** The endpoints, for `trimBeyond`. */
  listWebhookIds(): Promise<readonly string[]>
}

const ROWS_PER_STEP = 1_000
const ANSWERS_MAX = 100

export function attemptStore(db: Kysely<Schema>): AttemptStore {
  return { ...attemptList(db), health: healthReader(db), ...removal(db) }
}

function attemptList(db: Kysely<Schema>): Pick<AttemptStore, 'run'> {
  return {
    async run(webhookId, { event, messageId, onlyFailed }, { beyond, limit }) {
      const rows = await db
        .selectFrom('webhook_attempts')
        .selectAll()
        .where('webhook_id', '=', webhookId)
        .$if(beyond !== undefined, (query) => query.where('number', '<', beyond ?? 0))
        .$if(event !== undefined, (query) => query.where('event', '=', event ?? ''))
        .$if(messageId !== undefined, (query) => query.where('message_id', '=', messageId ?? ''))
        .$if(onlyFailed, (query) => query.where('fault', 'is not', null))
        .orderBy('number', 'desc')
        .limit(limit + 1)
        .execute()
      const shown = rows.slice(0, limit)
      const messages = await messagesOf(db, webhookId, shown)
      const items = shown.map((row) => attemptOf(row, messages.get(row.message_id)))
      return { items, rest: rows.length > limit ? items.at(-1)?.number : undefined }
    },
  }
}

type SentMessage = Pick<
  Selectable<Schema['webhook_messages']>,
  'message_id' | 'summary' | 'body' | 'tries' | 'next_at'
>

/** Returns the messages of attempts. Apart from these: the two tables may lie on different nodes. */
async function messagesOf(
  db: Kysely<Schema>,
  webhookId: string,
  attempts: readonly { readonly message_id: string }[],
): Promise<ReadonlyMap<string, SentMessage>> {
  const ids = [...new Set(attempts.map(({ message_id }) => message_id))]
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('webhook_messages')
    .select(['message_id', 'summary', 'body', 'tries', 'next_at'])
    .where('webhook_id', '=', webhookId)
    .where('message_id', 'in', ids)
    .execute()
  return new Map(rows.map((row) => [row.message_id, row]))
}

/** @param message undefined once it was trimmed */
function attemptOf(
  row: Selectable<Schema['webhook_attempts']>,
  message: SentMessage | undefined,
): Attempt {
  const { number, message_id, event, at, took_ms, status, url } = row
  return {
    ...{ number, message_id, event, at, took_ms, status, url },
    summary: message?.summary ?? null,
    fault: row.fault as AttemptFault | null,
    try: row.try,
    nextAt: message !== undefined && message.tries === row.try ? message.next_at : null,
    requestHeaders: JSON.parse(row.request_headers),
    response:
      row.response_headers === null
        ? null
        : { headers: JSON.parse(row.response_headers), body: row.response_body ?? '' },
    body: message?.body ?? '',
  }
}

function healthReader(db: Kysely<Schema>): AttemptStore['health'] {
  return async (webhookId, sinceHalfDay) => {
    const oldest = await db
      .selectFrom('webhook_messages')
      .select('at')
      .where('webhook_id', '=', webhookId)
      .where('next_at', 'is not', null)
      .orderBy('number')
      .limit(1)
      .executeTakeFirst()
    const tallies = await db
      .selectFrom('webhook_tallies')
      .select(['half_day', 'delivered', 'failed'])
      .where('webhook_id', '=', webhookId)
      .where('half_day', '>=', sinceHalfDay)
      .execute()
    const answers = await db
      .selectFrom('webhook_attempts')
      .select(['took_ms', 'status'])
      .where('webhook_id', '=', webhookId)
      .orderBy('number', 'desc')
      .limit(ANSWERS_MAX)
      .execute()
    const times = answers
      .filter(({ status }) => status !== null)
      .map(({ took_ms }) => took_ms)
      .toSorted((a, b) => a - b)
    const at = (share: number) => times[Math.ceil(times.length * share) - 1] ?? 0
    return {
      oldestWaitingAt: oldest?.at ?? null,
      answerMs: times.length === 0 ? null : { median: at(0.5), p95: at(0.95) },
      tallies: tallies.map(({ half_day, delivered, failed }) => ({
        half_day,
        delivered: Number(delivered),
        failed: Number(failed),
      })),
    }
  }
}

function removal(
  db: Kysely<Schema>,
): Pick<AttemptStore, 'trim' | 'trimBeyond' | 'erase' | 'listWebhookIds'> {
  const attempts = () => db.selectFrom('webhook_attempts').select('number')
  const messages = () => db.selectFrom('webhook_messages').select('number')

  async function deleteAttempts(some: ReturnType<typeof attempts>): Promise<boolean> {
    const { numDeletedRows } = await db
      .deleteFrom('webhook_attempts')
      .where('number', 'in', some.limit(ROWS_PER_STEP))
      .executeTakeFirst()
    return numDeletedRows === BigInt(ROWS_PER_STEP)
  }

  async function deleteMessages(some: ReturnType<typeof messages>): Promise<boolean> {
    const { numDeletedRows } = await db
      .deleteFrom('webhook_messages')
      .where('number', 'in', some.limit(ROWS_PER_STEP))
      .executeTakeFirst()
    return numDeletedRows === BigInt(ROWS_PER_STEP)
  }

  return {
    async trim(beforeMicros) {
      const isMore = await deleteAttempts(attempts().where('at', '<', beforeMicros).orderBy('at'))
      const old = messages().where('queued_at', '<', beforeMicros).orderBy('queued_at')
      return (await deleteMessages(old)) || isMore
    },

    async trimBeyond(webhookId, max) {
      const last = await attempts()
        .where('webhook_id', '=', webhookId)
        .orderBy('number', 'desc')
        .offset(max)
        .limit(1)
        .executeTakeFirst()
      if (last === undefined) return false
      const beyond = attempts().where('webhook_id', '=', webhookId)
      const isMore = await deleteAttempts(beyond.where('number', '<=', last.number))
      const lastMessage = await messages()
        .where('webhook_id', '=', webhookId)
        .orderBy('number', 'desc')
        .offset(max)
        .limit(1)
        .executeTakeFirst()
      if (lastMessage === undefined) return isMore
      const ended = messages()
        .where('webhook_id', '=', webhookId)
        .where('number', '<=', lastMessage.number)
        .where('next_at', 'is', null)
      return (await deleteMessages(ended)) || isMore
    },

    async erase(webhookId) {
      const isMore = await deleteAttempts(attempts().where('webhook_id', '=', webhookId))
      return (await deleteMessages(messages().where('webhook_id', '=', webhookId))) || isMore
    },

    async listWebhookIds() {
      const rows = await db.selectFrom('webhooks').select('id').execute()
      return rows.map(({ id }) => id)
    },
  }
}
