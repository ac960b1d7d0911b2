import type { CompiledQuery, Kysely } from 'kysely'
import type { Change } from '../changes/change.ts'
import { LINKS_PER_BUCKET, type Schema } from './schema.ts'
import { statement } from './statement.ts'
import { together } from './together.ts'

type LoggedChange = { readonly change: Change; readonly at: number }
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

/** The maximum number of rows in one insert. One statement is compiled for each number of rows. */
const INSERT_ROWS_MAX = 32
const INSERTS = Array.from({ length: INSERT_ROWS_MAX }, (_, index) => insertOf(index + 1))

/** @param rows the number of rows; the statement's parameters are their values, row by row */
function insertOf(rows: number) {
  return statement((db, values: readonly (number | string)[]) => {
    const row = (index: number) => {
      const [at, kind, subject] = [0, 1, 2].map((column) => values[index * 3 + column])
      return { at, kind, subject } as Change & { at: number }
    }
    return db.insertInto('changes').values(Array.from({ length: rows }, (_, index) => row(index)))
  })
}

/** Writes that the stores of a transaction defer. */
export type Pending = {
  /**
   * Runs a statement whose result the transaction does not need: immediately, or together with the
   * other deferred writes where that saves a round trip. A unique constraint violation makes the
   * transaction run again.
   */
  add(query: CompiledQuery): Promise<void>
  appendChange(change: Change, atMicros: number): void
  countLink(count: LinkCount): void
  /** Writes everything now. Call it before reading `changes` or `link_buckets`. */
  write(): Promise<void>
}

/** For read-only stores: throws on any write. */
export const NOTHING_PENDING: Pending = {
  add: async () => refuse(),
  appendChange: refuse,
  countLink: refuse,
  write: async () => {},
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
 * Defers what nearly every transaction writes, change log rows and link counts, until just before
 * the commit. Transactions that share one SQLite commit then share these statements, and on
 * PostgreSQL they need no separate round trip.
 */
export class PendingWrites implements Pending {
  readonly #db: Kysely<Schema>
  readonly #onCommit: (changes: readonly Change[]) => void
  readonly #isDistant: boolean
  #changes: LoggedChange[] = []
  #changesWritten = 0
  #counts: BucketCount[] = []
  #added: CompiledQuery[] = []

  /**
   * @param on.db the transaction
   * @param on.isDistant whether a statement costs a network round trip; then added statements are
   *   deferred too
   * @param on.onCommit called with the transaction's changes after the commit, unless there are
   *   none
   */
  constructor(on: {
    db: Kysely<Schema>
    isDistant: boolean
    onCommit: (changes: readonly Change[]) => void
  }) {
    this.#db = on.db
    this.#isDistant = on.isDistant
    this.#onCommit = on.onCommit
  }

  async add(query: CompiledQuery): Promise<void> {
    if (this.#isDistant) this.#added.push(query)
    else await this.#db.executeQuery(query)
  }

  appendChange(change: Change, atMicros: number): void {
    this.#changes.push({ change, at: atMicros })
  }

  countLink({ seq, ...count }: LinkCount): void {
    this.#counts.push({ ...count, bucket: Math.floor(seq / LINKS_PER_BUCKET) })
  }

  async write(): Promise<void> {
    const queries = this.take()
    if (queries.length > 0) await together(this.#db, queries)
  }

  /** Returns and clears the deferred statements, in the order in which the caller must run them. */
  take(): CompiledQuery[] {
    const counts = sumByBucket(this.#counts)
    const queries = [...this.#added, ...counts.map((count) => addToBucket.query(this.#db, count))]
    this.#added = []
    this.#counts = []
    while (this.#changesWritten < this.#changes.length) {
      const end = this.#changesWritten + INSERT_ROWS_MAX
      const rows = this.#changes.slice(this.#changesWritten, end)
      this.#changesWritten += rows.length
      const values = rows.flatMap(({ at, change }) => [at, change.kind, change.subject])
      const insert = INSERTS[rows.length - 1]
      if (insert !== undefined) queries.push(insert.query(this.#db, values))
    }
    return queries
  }

  /** Returns the position at which the next transaction's changes begin. */
  mark(): number {
    return this.#changes.length
  }

  /** Discards what was added after the mark. What was added before it must have been written. */
  undoTo(mark: number): void {
    this.#changes.length = mark
    this.#changesWritten = mark
    this.#counts = []
    this.#added = []
  }

  committed(): void {
    const changes = this.#changes.map(({ change }) => change)
    this.#changes = []
    this.#changesWritten = 0
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
