import { type Kysely, sql } from 'kysely'
import { waitForAll } from '../../platform/work/async.ts'
import type { Schema } from '../../storage/schema.ts'
import type { LockName } from '../../storage/store.ts'
import {
  grantOf,
  type LeaseAnswer,
  type LeaseRequest,
  type LimitFacts,
  leftOf,
} from '../limits/lease.ts'

/** A process that was not seen for this long does not answer: it has ended, or cannot reach the database. */
const SILENT_AFTER_MICROS = 90 * 1_000_000

/** How far the limit of a link is used up. */
type LimitUse = {
  /** Clicks that are neither counted nor outstanding. */
  readonly left: number
  /** Clicks that running processes hold for visitors to come, at most. */
  readonly held: number
}

/** The clicks that limits of links allow, leased to processes. */
export type ClickLeaseStore = {
  /** Stores what a process holds of a link's limit, and grants it more. Call only within `Store.write`. */
  renew(request: LeaseRequest): Promise<LeaseAnswer>
  /** Returns how far a link's limit is used up; undefined where it has none. */
  findUse(linkSeq: number, atMicros: number): Promise<LimitUse | undefined>
  /** Deletes the leases of links that were deleted. */
  forgetLinks(linkSeqs: readonly number[]): Promise<void>
}

type Facts = LimitFacts & {
  readonly heldElsewhere: number
  /** Null where the process has no lease. */
  readonly ownGranted: number | null
  /** Ingested clicks of the process's own journal. */
  readonly ownSpent: number
}

/** @param lockName undefined when the engine runs one writing transaction at a time */
export function clickLeaseStore(
  db: Kysely<Schema>,
  lockName: LockName | undefined,
): ClickLeaseStore {
  return {
    async renew(request) {
      const { linkSeq, journalId, held, atMicros } = request
      // Before anything is read: each transaction must see what the one before has granted.
      if (lockName !== undefined) await db.executeQuery(lockName(db, `click limit ${linkSeq}`))
      const facts = await readFacts(db, linkSeq, journalId, atMicros)
      if (facts === undefined) {
        const granted = request.granted ?? 0
        return { maxClicks: null, granted, more: 0, left: 0, heldElsewhere: 0 }
      }
      const before = request.granted ?? facts.ownGranted ?? facts.ownSpent
      const own = Math.max(0, before - facts.ownSpent)
      const known = { ...facts, outstanding: facts.outstanding + own }
      const more = grantOf(known, request.wanted)
      const granted = before + more
      const state = { granted, held: held + more, updated_at: atMicros }
      await db
        .insertInto('click_leases')
        .values({ link_seq: linkSeq, journal_id: journalId, ...state })
        .onConflict((conflict) => conflict.columns(['link_seq', 'journal_id']).doUpdateSet(state))
        .execute()
      const { maxClicks, heldElsewhere } = facts
      return { maxClicks, granted, more, left: leftOf(known) - more, heldElsewhere }
    },

    async findUse(linkSeq, atMicros) {
      const facts = await readFacts(db, linkSeq, '', atMicros)
      if (facts === undefined || facts.maxClicks === null) return undefined
      return { left: leftOf(facts), held: facts.heldElsewhere }
    },

    async forgetLinks(linkSeqs) {
      if (linkSeqs.length === 0) return
      for (const table of ['click_leases', 'reached_limits'] as const) {
        await db
          .deleteFrom(table as 'click_leases')
          .where('link_seq', 'in', linkSeqs)
          .execute()
      }
    },
  }
}

/** Undefined for a link that does not exist. `outstanding` leaves out the process's own clicks. */
async function readFacts(
  db: Kysely<Schema>,
  linkSeq: number,
  journalId: string,
  atMicros: number,
): Promise<Facts | undefined> {
  const [link, { rows }] = await waitForAll([
    db.selectFrom('links').select('max_clicks').where('seq', '=', linkSeq).executeTakeFirst(),
    countsOf(linkSeq, journalId, atMicros - SILENT_AFTER_MICROS).execute(db),
  ])
  const [row] = rows
  if (link === undefined || row === undefined) return undefined
  return {
    maxClicks: link.max_clicks,
    counted: Number(row.counted ?? 0),
    outstanding: Number(row.outstanding ?? 0),
    nodes: Number(row.nodes),
    heldElsewhere: Number(row.held ?? 0),
    ownGranted: numberOrNull(row.own_granted ?? null),
    ownSpent: Number(row.own_spent ?? 0),
  }
}

/** One statement, because counters and counts of journals change together. */
function countsOf(linkSeq: number, journalId: string, seenAfter: number) {
  return sql<Record<string, number | string | null>>`
    select
      (select clicks from link_clicks where link_seq = ${linkSeq}) as counted,
      (select count(*) from nodes where beat_at > ${seenAfter}) as nodes,
      (select spent from leased_clicks
        where link_seq = ${linkSeq} and journal_id = ${journalId}) as own_spent,
      sum(case when lease.journal_id <> ${journalId} and lease.granted > coalesce(ingested.spent, 0)
        then lease.granted - coalesce(ingested.spent, 0) end) as outstanding,
      sum(case when lease.journal_id <> ${journalId}
          and (lease.updated_at > ${seenAfter} or node.beat_at > ${seenAfter})
        then lease.held end) as held,
      max(case when lease.journal_id = ${journalId} then lease.granted end) as own_granted
    from click_leases lease
    left join leased_clicks ingested
      on ingested.link_seq = lease.link_seq and ingested.journal_id = lease.journal_id
    left join nodes node on node.id = lease.journal_id
    where lease.link_seq = ${linkSeq}`
}

function numberOrNull(value: number | string | null): number | null {
  return value === null ? null : Number(value)
}
