import { yieldToEventLoop } from '../../platform/work/async.ts'
import type { SpoolPart, SpoolPosition } from '../store/click-spool-store.ts'
import {
  decodeSums,
  NO_INSTANT,
  OPENING_BUCKET,
  PEOPLE_TOTAL,
  type Sum,
  TOTALS_BUCKET,
} from './spool-codec.ts'

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
