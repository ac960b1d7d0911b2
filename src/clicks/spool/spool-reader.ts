import { yieldToEventLoop } from '../../platform/work/async.ts'
import type { Store } from '../../storage/store.ts'
import { countedClick } from '../click.ts'
import { ClickColumns } from '../click-columns.ts'
import type { ClickSpoolStore, SpoolPart, SpoolPosition } from '../store/click-spool-store.ts'
import type { ClickStore, JournalPosition } from '../store/click-store.ts'
import { OPENING_AT } from '../tally/click-day.ts'
import {
  decodeClicks,
  decodeSums,
  NO_INSTANT,
  OPENING_BUCKET,
  PEOPLE_TOTAL,
  type Sum,
  TOTALS_BUCKET,
} from './spool-codec.ts'

/**
 * A batch ends with the part that reaches this number of records. Its transaction takes less than 50 ms of processor
 * time, for which a batch of visits waits at most. No release may lower it: a batch that is retried must not have fewer
 * clicks.
 */
const BATCH_RECORDS = 2_000

/** A spool that is complete, and counted under the name of a journal. */
export type SealedSpool = { readonly id: string; readonly journalId: string }

/**
 * What is different for clicks of an import. They get no row for exports if their link was deleted, or if the rows of
 * their day are dropped already; and the limit of rows in a minute is not theirs, because it is spent by visitors.
 */
export type ImportedBatch = {
  /**
   * The instants of the last clicks of links with opening balances (`OPENING_AT`), as far as they
   * are known.
   */
  readonly lastClicks: ReadonlyMap<number, number>
}

/** The next batch of a spool. */
type SpoolBatch = {
  /** The position after it. */
  readonly to: JournalPosition
  readonly clicks: ClickColumns
  readonly imported: ImportedBatch
}

/** Reads complete spools, on the connection of a `ClickWriter`. */
export type SpoolReader = {
  list(): Promise<readonly SealedSpool[]>
  /**
   * Returns the clicks after a position, which never have days that are far apart; undefined at the end. A later call
   * with the same position returns the same ones.
   *
   * @param from undefined for the beginning
   */
  read(spoolId: string, from: JournalPosition | undefined): Promise<SpoolBatch | undefined>
}

export function spoolReader(store: ClickSpoolStore): SpoolReader {
  return {
    async list() {
      const sealed = await store.listSealed()
      return sealed.flatMap(({ id, journal_id: journalId }) =>
        journalId === null ? [] : { id, journalId },
      )
    },

    async read(spoolId, from) {
      const parts = await partsOfBatch(store, spoolId, from)
      const last = parts.at(-1)
      if (last === undefined) return undefined
      const to = { segment: last.bucket, offset: last.part }
      return last.bucket === OPENING_BUCKET
        ? { to, ...openingsIn(parts) }
        : { to, clicks: clicksIn(parts), imported: { lastClicks: NONE } }
    },
  }
}

const NONE: ReadonlyMap<number, number> = new Map()

async function partsOfBatch(
  store: ClickSpoolStore,
  spoolId: string,
  from: JournalPosition | undefined,
): Promise<readonly SpoolPart[]> {
  const parts: SpoolPart[] = []
  let position =
    from === undefined
      ? { bucket: OPENING_BUCKET, part: 0 }
      : { bucket: from.segment, part: from.offset }
  for (let records = 0; records < BATCH_RECORDS; ) {
    const read = await store.readAfter(spoolId, position)
    for (const part of read) {
      if (part.bucket !== (parts[0] ?? part).bucket || records >= BATCH_RECORDS) return parts
      parts.push(part)
      records += part.clicks
      position = part
    }
    if (read.length === 0) return parts
  }
  return parts
}

function clicksIn(parts: readonly SpoolPart[]): ClickColumns {
  const clicks = new ClickColumns()
  for (const { data } of parts) decodeClicks(data, clicks)
  return clicks
}

function openingsIn(parts: readonly SpoolPart[]): Pick<SpoolBatch, 'clicks' | 'imported'> {
  const clicks = new ClickColumns()
  const lastClicks = new Map<number, number>()
  for (const { data } of parts) {
    for (const { link_seq, count, at } of decodeSums(data)) {
      clicks.add(countedClick(link_seq, OPENING_AT, count))
      if (at !== NO_INSTANT) lastClicks.set(link_seq, at)
    }
  }
  return { clicks, imported: { lastClicks } }
}

type SpoolStores = { readonly clicks: ClickStore; readonly clickSpools: ClickSpoolStore }

/** Removes what is counted from complete spools. Several processes may do it at once. */
export async function removeCounted(store: Store<SpoolStores>): Promise<void> {
  for (const { id } of await store.read.clickSpools.listSealed()) await isCounted(store, id)
}

/** Removes what is counted from a spool that is complete. Returns whether that was all of it. */
export async function isCounted(store: Store<SpoolStores>, spoolId: string): Promise<boolean> {
  const { clicks, clickSpools } = store.read
  const spool = await clickSpools.find(spoolId)
  if (spool?.state !== 'sealed' || spool.journal_id === null) return true
  const position = await clicks.findPosition(spool.journal_id)
  if (position !== undefined) {
    while (await store.write((stores) => stores.clickSpools.removeCounted(spoolId, position)));
  }
  if (await clickSpools.hasClicks(spoolId)) return false
  while (await store.write((stores) => stores.clickSpools.clear(spoolId, TOTALS_BUCKET)));
  await store.write((stores) => stores.clickSpools.markCounted(spoolId))
  return true
}

/** Links in memory at a time, in 6 MiB. */
const LINKS_PER_PASS = 262_144

type ReadAfter = (position: SpoolPosition) => Promise<readonly SpoolPart[]>

/**
 * Computes the opening balances of a spool, in the order of the links: what the total of a link has more than its
 * single clicks and its counts, those of bots too unless the total has none. Links without any are left out. Reads the spool once for each 262,144 link numbers.
 */
export async function* openingBalances(readAfter: ReadAfter): AsyncGenerator<Sum> {
  for (let first = 0; ; ) {
    const lowest = await lowestLink(readAfter, first)
    if (lowest === undefined) return
    first = lowest + LINKS_PER_PASS
    const pass = new Pass(lowest)
    for await (const { data } of partsIn(readAfter, TOTALS_BUCKET, OPENING_BUCKET)) {
      for (const sum of decodeSums(data)) pass.addTotal(sum)
    }
    for await (const { data } of partsIn(readAfter, OPENING_BUCKET + 1)) {
      for (const sum of decodeSums(data)) pass.subtract(sum)
    }
    yield* pass.balances()
  }
}

class Pass {
  readonly #first: number
  readonly #left = new Float64Array(LINKS_PER_PASS)
  readonly #isOfPeople = new Uint8Array(LINKS_PER_PASS)
  readonly #lastClick = new Float64Array(LINKS_PER_PASS).fill(NO_INSTANT)

  constructor(first: number) {
    this.#first = first
  }

  addTotal({ link_seq, count, at, flags }: Sum): void {
    const nth = link_seq - this.#first
    if (nth < 0 || nth >= LINKS_PER_PASS) return
    this.#left[nth] = (this.#left[nth] ?? 0) + count
    this.#isOfPeople[nth] = flags === PEOPLE_TOTAL ? 1 : 0
    this.#lastClick[nth] = Math.max(this.#lastClick[nth] ?? NO_INSTANT, at)
  }

  subtract({ link_seq, count, flags }: Sum): void {
    const nth = link_seq - this.#first
    if (nth < 0 || nth >= LINKS_PER_PASS) return
    if (flags !== 0 && this.#isOfPeople[nth] === 1) return
    this.#left[nth] = (this.#left[nth] ?? 0) - count
  }

  /** A link whose clicks and counts exceed its total has none. */
  *balances(): Generator<Sum> {
    for (const [nth, count] of this.#left.entries()) {
      if (count <= 0) continue
      yield { link_seq: this.#first + nth, count, flags: 0, at: this.#lastClick[nth] ?? NO_INSTANT }
    }
  }
}

async function lowestLink(readAfter: ReadAfter, from: number): Promise<number | undefined> {
  let lowest = Number.POSITIVE_INFINITY
  for await (const { data } of partsIn(readAfter, TOTALS_BUCKET, OPENING_BUCKET)) {
    for (const { link_seq } of decodeSums(data)) {
      if (link_seq >= from && link_seq < lowest) lowest = link_seq
    }
  }
  return Number.isFinite(lowest) ? lowest : undefined
}

/** Reads the parts in the buckets from `bucket` (included) to `end` (excluded). */
async function* partsIn(
  readAfter: ReadAfter,
  bucket: number,
  end = Number.POSITIVE_INFINITY,
): AsyncGenerator<SpoolPart> {
  for (let position: SpoolPosition = { bucket, part: 0 }; ; ) {
    const parts = await readAfter(position)
    for (const part of parts) {
      if (part.bucket >= end) return
      yield part
      position = part
    }
    if (parts.length === 0) return
    await yieldToEventLoop()
  }
}
