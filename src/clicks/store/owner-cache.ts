import type { Expression, Kysely, SqlBool } from 'kysely'
import type { Schema } from '../../platform/database/schema.ts'
import type { Owner } from './batch-growth.ts'

/** A link that moves to another domain has its clicks counted there after this time at the latest. */
const KEEP_MS = 30_000
const LINKS_MAX = 500_000
/** To whom links belong, remembered for a short while. */
export class OwnerCache {
  readonly #db: Kysely<Schema>
  readonly #isAmong: (linkSeqs: readonly number[]) => Expression<SqlBool>
  readonly #owners = new Map<string, Owner>()
  /** Undefined for a link that is not there. */
  readonly #byLink = new Map<number, Owner | undefined>()
  #filledAtMs = Number.NEGATIVE_INFINITY

  /**
   * @param isAmong whether `seq` is one of thousands, in an expression with one parameter: a statement with
   *   one for each takes longer to be read than to be run
   */
  constructor(db: Kysely<Schema>, isAmong: (linkSeqs: readonly number[]) => Expression<SqlBool>) {
    this.#db = db
    this.#isAmong = isAmong
  }

  /** Looks up those links that are not remembered. */
  async load(linkSeqs: Iterable<number>): Promise<void> {
    const now = performance.now()
    if (now - this.#filledAtMs > KEEP_MS || this.#byLink.size > LINKS_MAX) {
      this.#byLink.clear()
      this.#owners.clear()
      this.#filledAtMs = now
    }
    const missing = [...new Set(linkSeqs)].filter((seq) => !this.#byLink.has(seq))
    if (missing.length > 0) await this.#lookUp(missing)
  }

  find(linkSeq: number): Owner | undefined {
    return this.#byLink.get(linkSeq)
  }

  async #lookUp(linkSeqs: readonly number[]): Promise<void> {
    const rows = await this.#db
      .selectFrom('links')
      .select(['seq', 'workspace_id', 'keyspace_id'])
      .where(this.#isAmong(linkSeqs))
      .execute()
    for (const seq of linkSeqs) this.#byLink.set(seq, undefined)
    for (const { seq, ...owner } of rows) this.#byLink.set(seq, this.#theOne(owner))
  }

  #theOne(owner: Owner): Owner {
    const name = `${owner.workspace_id} ${owner.keyspace_id}`
    const known = this.#owners.get(name)
    if (known !== undefined) return known
    this.#owners.set(name, owner)
    return owner
  }
}
