import type { Expression, Kysely, SqlBool } from 'kysely'
import { LinkNumbers, type LinkSequence } from '../../links/store/index.ts'
import { ByteWriter } from '../../platform/bytes/bytes.ts'
import { workspaceNumber } from '../../storage/event-log.ts'
import type { Schema } from '../../storage/schema.ts'
import type { ClickColumns, ClickIndexes } from '../click-columns.ts'
import type { ClickBatch } from '../click-writer.ts'
import { dayOf, OPENING_AT } from '../tally/click-day.ts'
import { writeClick } from '../tally/day-format.ts'
import { DayTally } from '../tally/day-tally.ts'
import { compareKeys, type DayDelta, type LinkCount, SCOPES } from './fold-days.ts'

/** Above this count, the clicks of a subject take less space as a tally. */
const SINGLE_CLICKS_MAX = 16

/** The last click of a link that has only clicks without dates. */
const NEVER = -1

/** The workspace and keyspace of a link. Equal pairs are the same object, so that it can be a map key. */
export type Owner = { readonly workspace_id: string; readonly keyspace_id: number }

/** Returns the owner of a link; undefined for one that does not exist. */
export type OwnerOf = (linkSeq: number) => Owner | undefined

/** What a batch of clicks adds to the counters of links and to days, each in key order. */
export type BatchDeltas = {
  readonly counts: readonly LinkCount[]
  readonly deltas: readonly DayDelta[]
  /** Clicks that took one of their link's limit, in link order; empty for nearly all batches. */
  readonly limited: readonly LimitedCount[]
  /** Visits that are counted for no link, because their link does not exist. */
  readonly withoutLink: number
}

export type LimitedCount = { readonly link_seq: number; readonly clicks: number }

/** The clicks of one link, as indexes in the order in which they came. */
export type LinkRun = { readonly linkSeq: number; readonly indexes: Uint32Array }

/** Groups clicks by link, in the order of the links' numbers; those of a link stay in their order. */
export function groupByLink({ link_seq, length }: ClickColumns): readonly LinkRun[] {
  const order = orderBy(link_seq.subarray(0, length))
  const runs: LinkRun[] = []
  for (let start = 0; start < length; ) {
    const linkSeq = link_seq[order[start] ?? 0] ?? 0
    let end = start + 1
    while (end < length && link_seq[order[end] ?? 0] === linkSeq) end += 1
    runs.push({ linkSeq, indexes: order.subarray(start, end) })
    start = end
  }
  return runs
}

/** Returns the indexes of numbers in the order of the numbers; equal ones stay in their order. */
function orderBy(numbers: Float64Array): Uint32Array {
  const { length } = numbers
  let least = Number.POSITIVE_INFINITY
  let most = 0
  for (const number of numbers) {
    if (number < least) least = number
    if (number > most) most = number
  }
  if ((most - least + 1) * length > Number.MAX_SAFE_INTEGER) {
    const order = Uint32Array.from({ length }, (_, index) => index)
    return order.sort((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0) || a - b)
  }
  // Sorting numbers without a function is several times as fast, so each contains its index.
  const keys = new Float64Array(length)
  for (let at = 0; at < length; at += 1) keys[at] = ((numbers[at] ?? 0) - least) * length + at
  keys.sort()
  const order = new Uint32Array(length)
  for (let at = 0; at < length; at += 1) order[at] = (keys[at] ?? 0) % length
  return order
}

/** Shared scratch: cleared before each use, and never held across an `await`. */
const tally = new DayTally()

/**
 * Computes the deltas of a batch.
 *
 * @param ownerOf returns undefined for a link that does not exist: it was deleted, or the database is older than
 *   the click. Its clicks are not counted, because their owner is unknown.
 * @param links the clicks of the batch, as `groupByLink` returns them
 */
export function computeBatchDeltas(
  { clicks, imported }: Pick<ClickBatch, 'clicks' | 'imported'>,
  ownerOf: OwnerOf,
  links: readonly LinkRun[] = groupByLink(clicks),
): BatchDeltas {
  const counts: LinkCount[] = []
  const deltas: DayDelta[] = []
  const limited: LimitedCount[] = []
  const byOwner = new Map<number, Map<Owner, number[]>>()
  let withoutLink = 0
  const writer = new ByteWriter()
  tally.clear()
  for (const { linkSeq, indexes } of links) {
    const owner = ownerOf(linkSeq)
    if (owner === undefined) {
      for (const index of indexes) withoutLink += clicks.count[index] ?? 0
      continue
    }
    const count = countOf(clicks, { linkSeq, indexes }, imported?.lastClicks.get(linkSeq) ?? NEVER)
    if (count.clicks > 0) counts.push(count)
    const limitedClicks = limitedIn(clicks, indexes)
    if (limitedClicks > 0) limited.push({ link_seq: linkSeq, clicks: limitedClicks })
    for (const { day, ofDay } of daysOf(clicks, indexes)) {
      writeClicks(writer, clicks, ofDay)
      const key = { day, scope: SCOPES.link, subject: linkSeq, workspace_id: '' }
      deltas.push({ ...key, data: writer.take() })
      const owners = byOwner.getOrInsertComputed(day, () => new Map())
      const ofOwner = owners.getOrInsertComputed(owner, () => [])
      for (const index of ofDay) ofOwner.push(index)
    }
  }
  for (const [day, owners] of byOwner) addOwnerDeltas(deltas, day, clicks, owners)
  return { counts, deltas: deltas.sort(compareKeys), limited, withoutLink }
}

/** Counts people's clicks only. */
function countOf(clicks: ClickColumns, { linkSeq, indexes }: LinkRun, opening: number): LinkCount {
  let persons = 0
  let last_click = Number.NEGATIVE_INFINITY
  for (const index of indexes) {
    if (clicks.flags[index] !== 0) continue
    const at = clicks.at[index] ?? 0
    persons += clicks.count[index] ?? 0
    last_click = Math.max(last_click, at === OPENING_AT ? opening : at)
  }
  return { link_seq: linkSeq, clicks: persons, last_click }
}

function limitedIn({ limited }: ClickColumns, indexes: Uint32Array): number {
  let clicks = 0
  for (const index of indexes) clicks += limited[index] ?? 0
  return clicks
}

type DayRun = { readonly day: number; readonly ofDay: ClickIndexes }

/** Groups clicks by UTC day; nearly always there is one. */
export function daysOf({ at }: ClickColumns, indexes: Uint32Array): readonly DayRun[] {
  if (indexes.length === 0) return []
  const first = dayOf(at[indexes[0] ?? 0] ?? 0)
  let isOne = true
  for (const index of indexes) if (dayOf(at[index] ?? 0) !== first) isOne = false
  if (isOne) return [{ day: first, ofDay: indexes }]
  const days = Map.groupBy(indexes, (index) => dayOf(at[index] ?? 0))
  return [...days].map(([day, ofDay]) => ({ day, ofDay }))
}

function addOwnerDeltas(
  deltas: DayDelta[],
  day: number,
  clicks: ClickColumns,
  byOwner: ReadonlyMap<Owner, readonly number[]>,
): void {
  const workspaces = Map.groupBy(byOwner, ([{ workspace_id }]) => workspace_id)
  for (const [workspace_id, domains] of workspaces) {
    const tallies = domains.map(([{ keyspace_id: subject }, indexes]) => {
      tally.addClicks(clicks, indexes)
      const data = tally.take()
      deltas.push({ day, scope: SCOPES.domain, subject, workspace_id, data })
      return data
    })
    for (const data of tallies) tally.addChunks(data)
    const key = { day, scope: SCOPES.workspace, subject: workspaceNumber(workspace_id) }
    deltas.push({ ...key, workspace_id, data: tally.take() })
  }
}

function writeClicks(writer: ByteWriter, clicks: ClickColumns, indexes: ClickIndexes): void {
  let isSingle = indexes.length <= SINGLE_CLICKS_MAX
  for (const index of indexes) if (clicks.count[index] !== 1) isSingle = false
  if (isSingle) {
    for (const index of indexes) writeClick(writer, clicks, index)
    return
  }
  tally.addClicks(clicks, indexes)
  writer.bytes(tally.take())
}

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
  async load(links: readonly LinkRun[]): Promise<OwnerOf> {
    const linkSeqs = links.map(({ linkSeq }) => linkSeq)
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
