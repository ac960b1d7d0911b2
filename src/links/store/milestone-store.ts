import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { UncountedLink } from '../link.ts'
import { findBySeqs } from './link-rows.ts'

/** A position among links in the order in which they expire. */
export type ExpiryMark = { readonly expires_at: string; readonly seq: number }

/** What happens to links by itself: they expire, and their limits are reached. */
export type MilestoneStore = {
  /** Links that expire after a position and before an instant, in their order. */
  expired(after: ExpiryMark, until: string, limit: number): Promise<readonly UncountedLink[]>
  /** Moves the position of this name, of those who look for expired links; false when another process has moved it. */
  moveExpiry(name: string, from: string, to: string): Promise<boolean>
  /** Links with a limit that had visitors since, whose clicks have reached it, and of which that is not known yet. */
  reached(sinceMicros: number): Promise<readonly UncountedLink[]>
  /** Notes that a limit is reached; false when another process has. */
  noteReached(linkSeq: number, maxClicks: number): Promise<boolean>
}

export function milestoneStore(db: Kysely<Schema>): MilestoneStore {
  return {
    async expired({ expires_at, seq }, until, limit) {
      const rows = await db
        .selectFrom('links')
        .select('seq')
        .where((eb) => eb(eb.refTuple('expires_at', 'seq'), '>', eb.tuple(expires_at, seq)))
        .where('expires_at', '<=', until)
        .orderBy('expires_at')
        .orderBy('seq')
        .limit(limit)
        .execute()
      return findBySeqs(
        db,
        rows.map((row) => row.seq),
      )
    },

    async moveExpiry(name, from, to) {
      const { numUpdatedRows } = await db
        .updateTable('instance')
        .set({ value: to })
        .where('name', '=', name)
        .where('value', '=', from)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    // Statements of their own: the tables may lie on different nodes.
    async reached(sinceMicros) {
      const leases = await db
        .selectFrom('click_leases')
        .select('link_seq')
        .distinct()
        .where('updated_at', '>=', sinceMicros)
        .execute()
      const seqs = leases.map(({ link_seq }) => link_seq)
      if (seqs.length === 0) return []
      const counts = await db
        .selectFrom('link_clicks')
        .select(['link_seq', 'clicks'])
        .where('link_seq', 'in', seqs)
        .execute()
      const known = await db
        .selectFrom('reached_limits')
        .selectAll()
        .where('link_seq', 'in', seqs)
        .execute()
      const clicksOf = new Map(counts.map(({ link_seq, clicks }) => [link_seq, clicks]))
      const knownOf = new Map(known.map(({ link_seq, max_clicks }) => [link_seq, max_clicks]))
      return (await findBySeqs(db, seqs)).filter(
        ({ seq, max_clicks }) =>
          max_clicks !== null &&
          (clicksOf.get(seq) ?? 0) >= max_clicks &&
          knownOf.get(seq) !== max_clicks,
      )
    },

    async noteReached(link_seq, max_clicks) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('reached_limits')
        .values({ link_seq, max_clicks })
        .onConflict((conflict) =>
          conflict
            .column('link_seq')
            .doUpdateSet({ max_clicks })
            .where('reached_limits.max_clicks', '<>', max_clicks),
        )
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows !== 0n && numInsertedOrUpdatedRows !== undefined
    },
  }
}
