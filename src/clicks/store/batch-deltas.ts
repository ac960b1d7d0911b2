import type { Expression, Kysely, SqlBool } from 'kysely'
import { LinkNumbers, type LinkSequence } from '../../links/store/index.ts'
import { ByteWriter } from '../../platform/bytes/bytes.ts'
import { workspaceNumber } from '../../storage/event-log.ts'
import type { Schema } from '../../storage/schema.ts'
import { type ClickColumns, type ClickRun, wholeRun } from '../click-columns.ts'
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

/**
 * What a batch of clicks adds to the counters of links and to days, each in key order. These two are computed as they are
 * read, again each time: as objects of all links of a large batch they would take 100 MiB.
 */
export type BatchDeltas = {
  readonly counts: Iterable<LinkCount>
  readonly deltas: Iterable<DayDelta>
  /** The sum of `counts`. */
  readonly persons: number
  /** Clicks that took one of their link's limit, in link order; empty for nearly all batches. */
  readonly limited: readonly LimitedCount[]
  /** Visits that are counted for no link, because their link does not exist. */
  readonly withoutLink: number
}

export type LimitedCount = { readonly link_seq: number; readonly clicks: number }

/** The indexes of clicks in the order of their links' numbers; those of a link stay in their order. */
export type LinkOrder = Uint32Array

export function orderByLink({ link_seq, length }: ClickColumns): LinkOrder {
  return orderBy(link_seq.subarray(0, length))
}

/** The clicks of one link, in the order in which they came. */
type LinkRun = ClickRun & { readonly linkSeq: number }

/** @param indexes in the order of links */
function* runsOf({ link_seq }: ClickColumns, indexes: LinkOrder): Generator<LinkRun> {
  for (let start = 0; start < indexes.length; ) {
    const linkSeq = link_seq[indexes[start] ?? 0] ?? 0
    let end = start + 1
    while (end < indexes.length && link_seq[indexes[end] ?? 0] === linkSeq) end += 1
    yield { linkSeq, indexes, start, end }
    start = end
  }
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

/** Shared scratch: cleared before each use, and empty whenever a delta is yielded. */
const tally = new DayTally()

type CountedBatch = {
  readonly clicks: ClickColumns
  readonly imported: ClickBatch['imported'] | undefined
  readonly ownerOf: OwnerOf
  readonly order: LinkOrder
}

/**
 * Computes the deltas of a batch.
 *
 * @param ownerOf returns undefined for a link that does not exist: it was deleted, or the database is older than
 *   the click. Its clicks are not counted, because their owner is unknown.
 */
export function computeBatchDeltas(
  { clicks, imported }: Pick<ClickBatch, 'clicks' | 'imported'>,
  ownerOf: OwnerOf,
  order: LinkOrder = orderByLink(clicks),
): BatchDeltas {
  const batch: CountedBatch = { clicks, imported, ownerOf, order }
  const limited: LimitedCount[] = []
  let [persons, withoutLink] = [0, 0]
  for (const { linkSeq, start, end } of runsOf(clicks, order)) {
    const isKnown = ownerOf(linkSeq) !== undefined
    let limitedClicks = 0
    for (let at = start; at < end; at += 1) {
      const index = order[at] ?? 0
      const count = clicks.count[index] ?? 0
      if (!isKnown) withoutLink += count
      else if (clicks.flags[index] === 0) persons += count
      limitedClicks += clicks.limited[index] ?? 0
    }
    if (isKnown && limitedClicks > 0) limited.push({ link_seq: linkSeq, clicks: limitedClicks })
  }
  const counts = { [Symbol.iterator]: () => countsOf(batch) }
  const deltas = { [Symbol.iterator]: () => deltasOf(batch) }
  return { counts, deltas, persons, limited, withoutLink }
}

/** Counts people's clicks only. */
function* countsOf({ clicks, imported, ownerOf, order }: CountedBatch): Generator<LinkCount> {
  for (const { linkSeq, start, end } of runsOf(clicks, order)) {
    if (ownerOf(linkSeq) === undefined) continue
    const opening = imported?.lastClicks.get(linkSeq) ?? NEVER
    let persons = 0
    let last_click = Number.NEGATIVE_INFINITY
    for (let nth = start; nth < end; nth += 1) {
      const index = order[nth] ?? 0
      if (clicks.flags[index] !== 0) continue
      const at = clicks.at[index] ?? 0
      persons += clicks.count[index] ?? 0
      last_click = Math.max(last_click, at === OPENING_AT ? opening : at)
    }
    if (persons > 0) yield { link_seq: linkSeq, clicks: persons, last_click }
  }
}

function* deltasOf({ clicks, ownerOf, order }: CountedBatch): Generator<DayDelta> {
  const writer = new ByteWriter()
  tally.clear()
  const days = daysOf(clicks, order)
  for (const { day, ofDay } of days.toSorted((a, b) => a.day - b.day)) {
    for (const run of runsOf(clicks, ofDay)) {
      const { linkSeq: subject } = run
      if (ownerOf(subject) === undefined) continue
      writeClicks(writer, clicks, run)
      yield { day, scope: SCOPES.link, subject, workspace_id: '', data: writer.lend() }
    }
    const byOwner = groupByOwner(clicks, ofDay, ownerOf)
    yield* ownerDeltas(day, clicks, byOwner).sort(compareKeys)
  }
}

type DayRun = { readonly day: number; readonly ofDay: Uint32Array }

/** Groups clicks by UTC day; nearly always there is one. */
export function daysOf({ at }: ClickColumns, indexes: Uint32Array): readonly DayRun[] {
  if (indexes.length === 0) return []
  const first = dayOf(at[indexes[0] ?? 0] ?? 0)
  let isOne = true
  for (const index of indexes) if (dayOf(at[index] ?? 0) !== first) isOne = false
  if (isOne) return [{ day: first, ofDay: indexes }]
  const days = Map.groupBy(indexes, (index) => dayOf(at[index] ?? 0))
  return [...days].map(([day, ofDay]) => ({ day, ofDay: Uint32Array.from(ofDay) }))
}

/** Clicks of links that do not exist are left out. */
function groupByOwner(
  clicks: ClickColumns,
  ofDay: LinkOrder,
  ownerOf: OwnerOf,
): ReadonlyMap<Owner, Uint32Array> {
  const sizes = new Map<Owner, number>()
  for (const { linkSeq, start, end } of runsOf(clicks, ofDay)) {
    const owner = ownerOf(linkSeq)
    if (owner !== undefined) sizes.set(owner, (sizes.get(owner) ?? 0) + end - start)
  }
  const groups = new Map<Owner, Uint32Array>()
  const lengths = new Map<Owner, number>()
  for (const { linkSeq, start, end } of runsOf(clicks, ofDay)) {
    const owner = ownerOf(linkSeq)
    if (owner === undefined) continue
    const group = groups.getOrInsertComputed(owner, () => new Uint32Array(sizes.get(owner) ?? 0))
    let length = lengths.get(owner) ?? 0
    for (let at = start; at < end; at += 1) {
      group[length] = ofDay[at] ?? 0
      length += 1
    }
    lengths.set(owner, length)
  }
  return groups
}

function ownerDeltas(
  day: number,
  clicks: ClickColumns,
  byOwner: ReadonlyMap<Owner, Uint32Array>,
): DayDelta[] {
  const deltas: DayDelta[] = []
  const workspaces = Map.groupBy(byOwner, ([{ workspace_id }]) => workspace_id)
  for (const [workspace_id, domains] of workspaces) {
    const tallies = domains.map(([{ keyspace_id: subject }, indexes]) => {
      tally.addClicks(clicks, wholeRun(indexes))
      const data = tally.take()
      deltas.push({ day, scope: SCOPES.domain, subject, workspace_id, data })
      return data
    })
    for (const data of tallies) tally.addChunks(data)
    const key = { day, scope: SCOPES.workspace, subject: workspaceNumber(workspace_id) }
    deltas.push({ ...key, workspace_id, data: tally.take() })
  }
  return deltas
}

function writeClicks(writer: ByteWriter, clicks: ClickColumns, run: ClickRun): void {
  const { indexes, start, end } = run
  let isSingle = end - start <= SINGLE_CLICKS_MAX
  for (let at = start; isSingle && at < end; at += 1) {
    isSingle = clicks.count[indexes[at] ?? 0] === 1
  }
  if (isSingle) {
    for (let at = start; at < end; at += 1) writeClick(writer, clicks, indexes[at] ?? 0)
    return
  }
  tally.addClicks(clicks, run)
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
  async load({ link_seq }: ClickColumns, order: LinkOrder): Promise<OwnerOf> {
    const linkSeqs: number[] = []
    for (const index of order) {
      const linkSeq = link_seq[index] ?? 0
      if (linkSeq !== linkSeqs.at(-1)) linkSeqs.push(linkSeq)
    }
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
