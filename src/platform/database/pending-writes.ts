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

/** What becomes of the links of a workspace. */
export type LinkCount = {
  readonly workspaceId: string
  readonly seq: number
  readonly links: 1 | 0 | -1
  readonly bytes: number
}

/** Rows of one insert at most; for each number of rows a statement is compiled once. */
const INSERT_ROWS_MAX = 32
const INSERTS = Array.from({ length: INSERT_ROWS_MAX }, (_, index) => insertOf(index + 1))

/** @param rows of the statement; its parameters are the rows' values, one row after the other */
function insertOf(rows: number) {
  return statement((db, values: readonly (number | string)[]) => {
    const row = (index: number) => {
      const [at, kind, subject] = [0, 1, 2].map((column) => values[index * 3 + column])
      return { at, kind, subject } as Change & { at: number }
    }
    return db.insertInto('changes').values(Array.from({ length: rows }, (_, index) => row(index)))
  })
}

/** What the stores of a unit leave to be written later. */
export type Pending = {
  /**
   * Runs a statement on whose outcome nothing in the unit rests: at once, or together with the rest where
   * that saves a round trip. One that violates a unique constraint has the unit run again.
   */
  add(query: CompiledQuery): Promise<void>
  appendChange(change: Change, atMicros: number): void
  countLink(count: LinkCount): void
  /** Writes everything now: for whoever is about to read `changes` or `link_buckets`. */
  write(): Promise<void>
}

/** For stores that only read. */
export const NOTHING_PENDING: Pending = {
  add: async () => refuse(),
  appendChange: refuse,
  countLink: refuse,
  write: async () => {},
}

function refuse(): never {
  throw new Error('use Store.write: what is written here belongs to a transaction')
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
 * What nearly every unit writes: rows of the change log, and one more or fewer in the count of links.
 * It is kept back until the transaction is about to be committed, so that units that share a
 * transaction share these statements too, and that they need no round trip of their own.
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
   * @param on.isDistant whether a statement costs a round trip, so that what is added is kept back too
   * @param on.onCommit told of the transaction's changes, where there are any
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

  /** Everything that is to be written, in order, for the caller to run. */
  take(): CompiledQuery[] {
    const counts = addUp(this.#counts)
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

  /** Where the changes of the next unit begin. */
  mark(): number {
    return this.#changes.length
  }

  /** Forgets what came after the mark. What came before it must have been written. */
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

/** One sum for each bucket. */
function addUp(counts: readonly BucketCount[]): BucketCount[] {
  const sums = new Map<string, BucketCount>()
  for (const count of counts) {
    const name = `${count.workspaceId}/${count.bucket}`
    const { links = 0, bytes = 0 } = sums.get(name) ?? {}
    sums.set(name, { ...count, links: links + count.links, bytes: bytes + count.bytes })
  }
  return [...sums.values()]
}
