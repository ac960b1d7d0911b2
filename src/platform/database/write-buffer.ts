import type { CompiledQuery, Kysely } from 'kysely'
import type { Change } from '../changes/changes.ts'
import type { EventAuthor, NewEvent } from '../events/event-writer.ts'
import type { EventAuthors, NumberedAuthor } from './event-authors.ts'
import { pipeline } from './pipeline.ts'
import { RowBuffer, RowInserts } from './row-buffer.ts'
import { LINKS_PER_BUCKET, type Schema } from './schema.ts'
import { statement } from './statement.ts'

type LoggedChange = Change & { readonly at: number }
/** A row of the event log before the database has numbered it. */
type NewEventRow = Readonly<Omit<Schema['events'], 'id'>>
type BucketCount = {
  readonly workspaceId: string
  readonly bucket: number
  readonly links: number
  readonly bytes: number
}

/** A change to a workspace's number and size of links. */
export type LinkCount = {
  readonly workspaceId: string
  readonly seq: number
  readonly links: 1 | 0 | -1
  readonly bytes: number
}

const CHANGE_INSERTS = new RowInserts<LoggedChange>('changes', ['at', 'kind', 'subject'])
const AUTHOR_INSERTS = new RowInserts<Schema['event_authors']>(
  'event_authors',
  ['number', 'workspace_id', 'kind', 'actor_id', 'name'],
  (insert) => insert.onConflict((conflict) => conflict.doNothing()),
)
const EVENT_INSERTS = new RowInserts<NewEventRow>('events', [
  'at',
  'workspace',
  'author',
  'request_id',
  'type',
  'subject_id',
  'before_fields',
  'after_fields',
])

/** The number of rows in the buffer when one of the batched transactions began. */
export type BufferMark = { readonly changes: number; readonly events: number }

/** Collects the writes that the stores of a transaction defer until just before the commit. */
export type WriteBuffer = {
  /**
   * Runs a statement whose result the transaction does not need: immediately, or together with the
   * other deferred writes where that saves a round trip. A unique constraint violation makes the
   * transaction run again.
   */
  add(query: CompiledQuery): Promise<void>
  appendChange(change: Change, atMicros: number): void
  appendEvent(author: EventAuthor, event: NewEvent, atMicros: number): Promise<void>
  countLink(count: LinkCount): void
  /** Executes the deferred writes now. Call it before reading `changes`, `events` or `link_buckets`. */
  flush(): Promise<void>
}

/** For read-only stores: throws on any write. */
export const READ_ONLY_BUFFER: WriteBuffer = {
  add: async () => refuse(),
  appendChange: refuse,
  appendEvent: async () => refuse(),
  countLink: refuse,
  flush: async () => {},
}

function refuse(): never {
  throw new Error('use Store.write: this write needs a transaction')
}

const addToBucket = statement((db, count: BucketCount) =>
  db
    .insertInto('link_buckets')
    .values({
      workspace_id: count.workspaceId,
      bucket: count.bucket,
      links: count.links,
      bytes: count.bytes,
    })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'bucket']).doUpdateSet((eb) => ({
        links: eb('link_buckets.links', '+', count.links),
        bytes: eb('link_buckets.bytes', '+', count.bytes),
      })),
    ),
)

/**
 * Defers what nearly every transaction writes, rows of the change log and the event log and link
 * counts, until just before
 * the commit. Transactions that share one SQLite commit then share these statements, and on
 * PostgreSQL they need no separate round trip.
 */
export class TransactionWrites implements WriteBuffer {
  readonly #db: Kysely<Schema>
  readonly #onCommit: (changes: readonly Change[]) => void
  readonly #isDistant: boolean
  readonly #changes = new RowBuffer(CHANGE_INSERTS)
  readonly #events = new RowBuffer(EVENT_INSERTS)
  readonly #eventAuthors: EventAuthors
  /** Authors whose rows must be there when the transaction commits. */
  readonly #authors = new Set<NumberedAuthor>()
  #counts: BucketCount[] = []
  #added: CompiledQuery[] = []

  /**
   * @param on.db the transaction
   * @param on.eventAuthors shared by all transactions of the process on this database
   * @param on.isDistant whether a statement costs a network round trip; then added statements are
   *   deferred too
   * @param on.onCommit called with the transaction's changes after the commit, unless there are
   *   none
   */
  constructor(on: {
    db: Kysely<Schema>
    isDistant: boolean
    eventAuthors: EventAuthors
    onCommit: (changes: readonly Change[]) => void
  }) {
    this.#db = on.db
    this.#isDistant = on.isDistant
    this.#eventAuthors = on.eventAuthors
    this.#onCommit = on.onCommit
  }

  async add(query: CompiledQuery): Promise<void> {
    if (this.#isDistant) this.#added.push(query)
    else await this.#db.executeQuery(query)
  }

  appendChange(change: Change, atMicros: number): void {
    this.#changes.add({ ...change, at: atMicros })
  }

  async appendEvent(author: EventAuthor, event: NewEvent, atMicros: number): Promise<void> {
    const authors = this.#eventAuthors
    const numbered = authors.known(author) ?? (await authors.find(this.#db, author))
    if (!numbered.isCommitted) this.#authors.add(numbered)
    this.#events.add({
      at: atMicros,
      workspace: numbered.workspace,
      author: numbered.row.number,
      request_id: author.requestId,
      type: event.type,
      subject_id: event.subjectId,
      before_fields: event.before && JSON.stringify(event.before),
      after_fields: event.after && JSON.stringify(event.after),
    })
  }

  countLink({ seq, ...count }: LinkCount): void {
    this.#counts.push({ ...count, bucket: Math.floor(seq / LINKS_PER_BUCKET) })
  }

  async flush(): Promise<void> {
    const queries = this.take()
    if (queries.length > 0) await pipeline(this.#db, queries)
  }

  /** Returns and clears the deferred statements, in the order in which the caller must run them. */
  take(): CompiledQuery[] {
    const counts = sumByBucket(this.#counts)
    const queries = [
      ...this.#added,
      ...counts.map((count) => addToBucket.query(this.#db, count)),
      ...this.#changes.take(this.#db),
      ...AUTHOR_INSERTS.queries(
        this.#db,
        Array.from(this.#authors, ({ row }) => row),
      ),
      ...this.#events.take(this.#db),
    ]
    this.#added = []
    this.#counts = []
    return queries
  }

  /** Returns the current position, for `undoTo`. */
  mark(): BufferMark {
    return { changes: this.#changes.count, events: this.#events.count }
  }

  /** Discards what was added after the mark, or everything. Earlier rows must have been flushed. */
  undoTo({ changes, events }: BufferMark = { changes: 0, events: 0 }): void {
    this.#changes.undoTo(changes)
    this.#events.undoTo(events)
    this.#authors.clear()
    this.#counts = []
    this.#added = []
  }

  committed(): void {
    const changes = this.#changes.empty().map(({ kind, subject }) => ({ kind, subject }))
    this.#events.empty()
    for (const author of this.#authors) author.isCommitted = true
    this.#authors.clear()
    if (changes.length > 0) this.#onCommit(changes)
  }
}

/** Sums the counts per bucket. */
function sumByBucket(counts: readonly BucketCount[]): BucketCount[] {
  const sums = new Map<string, BucketCount>()
  for (const count of counts) {
    const name = `${count.workspaceId}/${count.bucket}`
    const { links = 0, bytes = 0 } = sums.get(name) ?? {}
    sums.set(name, { ...count, links: links + count.links, bytes: bytes + count.bytes })
  }
  return [...sums.values()]
}
