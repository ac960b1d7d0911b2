import type { EventResource } from '@terse/contract/events'
import type { Kysely } from 'kysely'
import { systemRandom } from '../platform/crypto/random.ts'
import type { Schema } from './schema.ts'

/** What may happen in a workspace. */
export type EventType = EventResource['type']

/** Values by field, under the names of the API. */
export type EventFields = Readonly<Record<string, unknown>>

/** What an operation reports of a change. */
export type NewEvent = {
  readonly type: EventType
  /** The identifier of what was changed. */
  readonly subjectId: string
  /** The changed fields as they were; null for what was created. Never a secret. */
  readonly before: EventFields | null
  /** The changed fields as they are now; null for what was deleted. Never a secret. */
  readonly after: EventFields | null
}

/** The workspace of events that belong to none, such as a person's new password. */
export const INSTANCE = '00000000-0000-0000-0000-000000000000'

/** Who caused an event, in which workspace. */
export type EventAuthor = {
  readonly kind: 'token' | 'person' | 'system'
  readonly id: string | null
  readonly name: string
  readonly workspaceId: string
  readonly requestId: string | null
}

/** Writes the event log: the part of its store that every operation which changes something needs. */
export type EventWriter = {
  /** Writes an event with the changes of its transaction. Only within `Store.write`. */
  append(author: EventAuthor, event: NewEvent, atMicros: number): Promise<void>
}

/** Fields that are not null. */
export function setFields(fields: EventFields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

/** The fields whose values differ, as they were and as they are now. */
export function changedFields(
  before: EventFields,
  after: EventFields,
): { readonly before: EventFields; readonly after: EventFields } {
  const names = Object.keys(after).filter(
    (name) =>
      before[name] !== after[name] && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  const only = (fields: EventFields) =>
    Object.fromEntries(names.map((name) => [name, fields[name] ?? null]))
  return { before: only(before), after: only(after) }
}

/** Whether an update has changed any field that the log has. */
export function hasChanges({ after }: Pick<NewEvent, 'after'>): boolean {
  return Object.keys(after ?? {}).length > 0
}

/** The most authors in memory. Beyond that, all are looked up again. */
const AUTHORS_MAX = 20_000

/** An author as the event log names it. */
export type NumberedAuthor = {
  readonly row: Schema['event_authors']
  /** The number of the author's workspace. */
  readonly workspace: number
  /** Whether a transaction that wrote the row is known to be committed. */
  isCommitted: boolean
}

/**
 * Numbers the authors of events, so that an event need not repeat who they are.
 *
 * Numbers are random, so another author practically never gets a number whose row was rolled back, or lost in a
 * failover. A process may therefore remember a number before its row is committed.
 */
export class EventAuthors {
  /** By workspace, then by identifier or, for parts of the service, by name. */
  readonly #known = new Map<string, Map<string, NumberedAuthor>>()
  #count = 0

  /** Returns an author that `find` has returned before. */
  known({ workspaceId, kind, id, name }: EventAuthor): NumberedAuthor | undefined {
    const author = this.#known.get(workspaceId)?.get(id ?? name)
    return author?.row.kind === kind && author.row.name === name ? author : undefined
  }

  /** Looks an author up, or draws a number for it. Unless it is committed, its row must be written with the event. */
  async find(db: Kysely<Schema>, author: EventAuthor): Promise<NumberedAuthor> {
    const { workspaceId: workspace_id, kind, id: actor_id, name } = author
    const found = await db
      .selectFrom('event_authors')
      .select('number')
      .where((eb) => eb.and({ workspace_id, kind, name }))
      .where('actor_id', actor_id === null ? 'is' : '=', actor_id)
      .limit(1)
      .executeTakeFirst()
    const numbered = {
      row: { number: found?.number ?? (await freeNumber(db)), workspace_id, kind, actor_id, name },
      workspace: workspaceNumber(workspace_id),
      // The row that was found may be of this transaction.
      isCommitted: false,
    }
    this.#remember(numbered)
    return numbered
  }

  /** Forgets all authors: after an outage of the database their rows may be lost. */
  forget(): void {
    this.#known.clear()
    this.#count = 0
  }

  #remember(author: NumberedAuthor): void {
    if (this.#count >= AUTHORS_MAX) this.forget()
    const { workspace_id, actor_id, name } = author.row
    const ofWorkspace = this.#known.get(workspace_id) ?? new Map<string, NumberedAuthor>()
    this.#known.set(workspace_id, ofWorkspace.set(actor_id ?? name, author))
    this.#count += 1
  }
}

/**
 * Draws numbers of 31 bits until one has no row. The probability that another transaction draws the same number before
 * this one commits is 1 in 2^31.
 */
async function freeNumber(db: Kysely<Schema>): Promise<number> {
  for (;;) {
    const number = Buffer.from(systemRandom(4)).readUInt32BE() >>> 1
    const taken = await db
      .selectFrom('event_authors')
      .select('number')
      .where('number', '=', number)
      .executeTakeFirst()
    if (taken === undefined) return number
  }
}

/**
 * Returns a number derived from a workspace's identifier, for shorter keys. Two workspaces may have the same number, so
 * a reader must compare the identifier too.
 */
export function workspaceNumber(workspaceId: string): number {
  return Number.parseInt(workspaceId.slice(-8), 16)
}
