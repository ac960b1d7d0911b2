import type { Expression, Kysely, SqlBool } from 'kysely'
import { LinkNumbers, type LinkSequence } from '../../links/store/index.ts'
import type { Schema } from '../../platform/database/schema.ts'
import type { ClickColumns } from '../click-columns.ts'
import type { Owner } from './batch-deltas.ts'

/** After a link moves to another domain, its clicks count there after at most this time. */
const AGE_MS_MAX = 30_000
const LINKS_MAX = 500_000

/** Finds the owners of clicked links, and caches them for a short time. */
export class OwnerCache {
  readonly #db: Kysely<Schema>
  readonly #numbers: LinkNumbers
  readonly #isAmong: (linkSeqs: readonly number[]) => Expression<SqlBool>
  readonly #owners = new Map<string, Owner>()
  /** Undefined for a link that does not exist. */
  readonly #byLink = new Map<number, Owner | undefined>()
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

  /** Loads the owners that are not cached, and ensures that no new link gets the number of a clicked one. */
  async load({ link_seq, length }: ClickColumns): Promise<void> {
    const linkSeqs = [...new Set(link_seq.subarray(0, length))]
    await this.#numbers.reserve(linkSeqs)
    const now = performance.now()
    if (now - this.#filledAtMs > AGE_MS_MAX || this.#byLink.size > LINKS_MAX) {
      this.#byLink.clear()
      this.#owners.clear()
      this.#filledAtMs = now
    }
    const missing = linkSeqs.filter((seq) => !this.#byLink.has(seq))
    if (missing.length > 0) await this.#query(missing)
  }

  readonly ownerOf = (linkSeq: number): Owner | undefined => this.#byLink.get(linkSeq)

  async #query(linkSeqs: readonly number[]): Promise<void> {
    const rows = await this.#db
      .selectFrom('links')
      .select(['seq', 'workspace_id', 'keyspace_id'])
      .where(this.#isAmong(linkSeqs))
      .execute()
    for (const seq of linkSeqs) this.#byLink.set(seq, undefined)
    for (const { seq, ...owner } of rows) {
      const name = `${owner.workspace_id} ${owner.keyspace_id}`
      this.#byLink.set(seq, this.#owners.getOrInsert(name, owner))
    }
  }
}
