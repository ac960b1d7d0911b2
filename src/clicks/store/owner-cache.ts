import type { Expression, Kysely, SqlBool } from 'kysely'
import { LinkNumbers, type LinkSequence } from '../../links/store/index.ts'
import type { Schema } from '../../storage/schema.ts'
import type { ClickColumns } from '../click-columns.ts'
import type { Owner, OwnerOf } from './batch-deltas.ts'

/** After a link moves to another domain, its clicks count there after at most this time. */
const AGE_MS_MAX = 30_000
const LINKS_MAX = 500_000

/** Finds the owners of clicked links, and caches them for a short time. */
export class OwnerCache {
  readonly #db: Kysely<Schema>
  readonly #numbers: LinkNumbers
  readonly #isAmong: (linkSeqs: readonly number[]) => Expression<SqlBool>
  #owners = new Map<string, Owner>()
  /** Undefined for a link that does not exist. */
  #byLink = new Map<number, Owner | undefined>()
  #filledAtMs = Number.NEGATIVE_INFINITY

  /**
   * @param isAmong returns a condition that `seq` is among thousands of numbers, with a single parameter: a
   *   statement with one parameter per number takes longer to parse than to run
   */
  constructor(
    db: Kysely<Schema>,
    sequence: LinkSequence,
    isAmong: (linkSeqs: readonly number[]) => Expression<SqlBool>,
  ) {
    this.#db = db
    this.#numbers = new LinkNumbers(sequence)
    this.#isAmong = isAmong
  }

  /**
   * Returns the owners of a batch's links. Reserves the numbers of these links too, so that no new link gets one of them.
   */
  async load({ link_seq, length }: ClickColumns): Promise<OwnerOf> {
    const linkSeqs = [...new Set(link_seq.subarray(0, length))]
    await this.#numbers.reserve(linkSeqs)
    const now = performance.now()
    if (now - this.#filledAtMs > AGE_MS_MAX || this.#byLink.size > LINKS_MAX) {
      // New maps instead of cleared ones: a batch whose query is pending goes on with the old maps.
      this.#byLink = new Map()
      this.#owners = new Map()
      this.#filledAtMs = now
    }
    const [byLink, owners] = [this.#byLink, this.#owners]
    const missing = linkSeqs.filter((seq) => !byLink.has(seq))
    const rows = missing.length === 0 ? [] : await this.#query(missing)
    for (const seq of missing) byLink.set(seq, undefined)
    for (const { seq, ...owner } of rows) {
      byLink.set(seq, owners.getOrInsert(`${owner.workspace_id} ${owner.keyspace_id}`, owner))
    }
    return (linkSeq) => byLink.get(linkSeq)
  }

  #query(linkSeqs: readonly number[]) {
    return this.#db
      .selectFrom('links')
      .select(['seq', 'workspace_id', 'keyspace_id'])
      .where(this.#isAmong(linkSeqs))
      .execute()
  }
}
