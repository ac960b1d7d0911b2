import type { Compilable, CompiledQuery, InsertQueryBuilder, InsertResult, Kysely } from 'kysely'
import type { Change } from './changes.ts'
import type { EventAuthor, EventAuthors, NewEvent, NumberedAuthor } from './event-log.ts'
import { LINKS_PER_BUCKET, type Schema } from './schema.ts'
import { pipeline, statement } from './statement.ts'

/** The maximum number of rows of one insert. Each number of rows has its own compiled statement. */
const INSERT_ROWS_MAX = 32

type Value = number | string | null
type Insert = InsertQueryBuilder<Schema, keyof Schema, InsertResult>

/**
 * Compiled multi-row inserts into a table, one for each number of rows up to `INSERT_ROWS_MAX`. Their
 * parameters are the values of the rows in order, so no parameter is looked up by name.
 */
export class RowInserts<T extends Readonly<Record<keyof T, Value>>> {
  readonly #table: keyof Schema
  readonly #columns: readonly (keyof T & string)[]
  readonly #refine: (insert: Insert) => Compilable<unknown>
  readonly #compiled = new WeakMap<object, CompiledQuery[]>()

  /** @param refine adds what to do on a conflict, and what to return */
  constructor(
    table: keyof Schema,
    columns: readonly (keyof T & string)[],
    refine: (insert: Insert) => Compilable<unknown> = (insert) => insert,
  ) {
    this.#table = table
    this.#columns = columns
    this.#refine = refine
  }

  /** Returns the statements that insert the rows from index `from` on, in order. */
  queries(db: Kysely<Schema>, rows: readonly T[], from = 0): CompiledQuery[] {
    const queries: CompiledQuery[] = []
    for (let start = from; start < rows.length; start += INSERT_ROWS_MAX) {
      const end = Math.min(start + INSERT_ROWS_MAX, rows.length)
      const parameters: Value[] = []
      for (let index = start; index < end; index += 1) {
        const row = rows[index] as T
        for (const column of this.#columns) parameters.push(row[column])
      }
      queries.push({ ...this.#insertOf(db, end - start), parameters })
    }
    return queries
  }

  #insertOf(db: Kysely<Schema>, count: number): CompiledQuery {
    const { adapter } = db.getExecutor()
    let inserts = this.#compiled.get(adapter)
    if (inserts === undefined) {
      inserts = []
      this.#compiled.set(adapter, inserts)
    }
    const compiled = inserts[count] ?? this.#compile(db, count)
    inserts[count] = compiled
    return compiled
  }

  #compile(db: Kysely<Schema>, count: number): CompiledQuery {
    const row = Object.fromEntries(this.#columns.map((column) => [column, '']))
    const rows = Array.from({ length: count }, () => row as never)
    const insert = db.insertInto(this.#table).values(rows) as unknown as Insert
    return this.#refine(insert).compile()
  }
}

/** Rows of one table that a transaction inserts just before its commit. */
class RowBuffer<T extends Readonly<Record<keyof T, Value>>> {
  readonly #inserts: RowInserts<T>
  #rows: T[] = []
  #written = 0

  constructor(inserts: RowInserts<T>) {
    this.#inserts = inserts
  }

  add(row: T): void {
    this.#rows.push(row)
  }

  /** Returns the statements that insert the rows added since the last call. */
  take(db: Kysely<Schema>): CompiledQuery[] {
    if (this.#written === this.#rows.length) return []
    const queries = this.#inserts.queries(db, this.#rows, this.#written)
    this.#written = this.#rows.length
    return queries
  }

  /** Clears the buffer and returns its rows. */
  empty(): readonly T[] {
    const rows = this.#rows
    this.#rows = []
    this.#written = 0
    return rows
  }
}

type LoggedChange = Change & { readonly at: number }
/** A row of the event log before the database has numbered it. */
type NewEventRow = Readonly<Omit<Schema['events'], 'id'>>
type BucketCount = {
  readonly workspaceId: string
  readonly bucket: number
  readonly links: number
  readonly archived: number
  readonly bytes: number
}

/** A change to a workspace's number and size of links. */
type LinkCount = {
  readonly workspaceId: string
  readonly seq: number
  readonly links: number
  /** How many of them are archived. */
  readonly archived: number
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
      archived: count.archived,
      bytes: count.bytes,
    })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'bucket']).doUpdateSet((eb) => ({
        links: eb('link_buckets.links', '+', count.links),
        archived: eb('link_buckets.archived', '+', count.archived),
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
  #count = 0

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
    this.#count += 1
    if (this.#isDistant) this.#added.push(query)
    else await this.#db.executeQuery(query)
  }

  appendChange(change: Change, atMicros: number): void {
    this.#count += 1
    this.#changes.add({ ...change, at: atMicros })
  }

  async appendEvent(author: EventAuthor, event: NewEvent, atMicros: number): Promise<void> {
    const authors = this.#eventAuthors
    const numbered = authors.known(author) ?? (await authors.find(this.#db, author))
    if (!numbered.isCommitted) this.#authors.add(numbered)
    this.#count += 1
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
    if (count.links === 0 && count.archived === 0 && count.bytes === 0) return
    this.#count += 1
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

  /** How many writes were ever deferred. */
  get count(): number {
    return this.#count
  }

  /** Discards everything. */
  undo(): void {
    this.#changes.empty()
    this.#events.empty()
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
    const { links = 0, archived = 0, bytes = 0 } = sums.get(name) ?? {}
    sums.set(name, {
      ...count,
      links: links + count.links,
      archived: archived + count.archived,
      bytes: bytes + count.bytes,
    })
  }
  return [...sums.values()]
}
