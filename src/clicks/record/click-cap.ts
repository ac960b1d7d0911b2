import { type SipKey, sipHash53 } from '../../platform/crypto/siphash.ts'
import { minuteOf } from '../tally/click-day.ts'

/** Room for 16,384 pairs of address and link, in 384 KiB: a larger table would miss the CPU caches. */
const SETS = 4_096
const PAIRS_PER_SET = 4
/** Entries per set in both tables, so that a set takes one cache line of one and half of the other. */
const SET_STRIDE = 2 * PAIRS_PER_SET
/** Odd and without a bit pattern, so that consecutive links fall into distant sets. */
const LINK_FACTOR = 0x9e37_79b1
const SET_FACTOR = 0x85eb_ca6b

/**
 * Limits how many clicks of one address on one link are stored individually in each clock minute.
 *
 * Counts in a set-associative table of fixed size. When a set is full, the pair with the fewest clicks is
 * evicted, so a flood of addresses does not evict an address that sends many clicks. An evicted pair
 * counts from zero again: the error stores too many clicks, and never caps one too early.
 */
export class ClickCap {
  readonly #perMinute: number
  readonly #key: SipKey
  /** The address and the link of each pair, by set. */
  readonly #pairs = new Float64Array(SETS * SET_STRIDE)
  /** The minute of each set, followed by the clicks of each pair in that minute. */
  readonly #counts = new Int32Array(SETS * SET_STRIDE)
  #capped = 0

  /**
   * @param perMinute the limit per address and link; at least 1
   * @param key secret, so that a client cannot choose addresses that fall into the same set
   */
  constructor(perMinute: number, key: SipKey) {
    this.#perMinute = perMinute
    this.#key = key
  }

  /** Clicks over the limit since the start. */
  get capped(): number {
    return this.#capped
  }

  /** Returns the number that identifies an address in `admits`. */
  addressNumber(subscriber: string): number {
    return sipHash53(this.#key, subscriber)
  }

  /** Counts a click. Returns whether it is within the limit. */
  admits(address: number, linkSeq: number, atMicros: number): boolean {
    const pairs = this.#pairs
    const counts = this.#counts
    const set = setOf(address, linkSeq) * SET_STRIDE
    const minute = minuteOf(atMicros)
    if (counts[set] !== minute) {
      counts.fill(0, set, set + SET_STRIDE)
      counts[set] = minute
    }
    for (let pair = 0; pair < PAIRS_PER_SET; pair += 1) {
      const at = set + 2 * pair
      if (pairs[at] !== address || pairs[at + 1] !== linkSeq) continue
      const count = counts[set + 1 + pair] ?? 0
      if (count >= this.#perMinute) {
        this.#capped += 1
        return false
      }
      counts[set + 1 + pair] = count + 1
      return true
    }
    this.#replaceFewest(set, address, linkSeq)
    return true
  }

  /** Replaces the pair with the fewest clicks in the set by a new one. */
  #replaceFewest(set: number, address: number, linkSeq: number): void {
    let fewest = 0
    for (let pair = 1; pair < PAIRS_PER_SET; pair += 1) {
      if ((this.#counts[set + 1 + pair] ?? 0) < (this.#counts[set + 1 + fewest] ?? 0)) fewest = pair
    }
    this.#pairs[set + 2 * fewest] = address
    this.#pairs[set + 2 * fewest + 1] = linkSeq
    this.#counts[set + 1 + fewest] = 1
  }
}

function setOf(address: number, linkSeq: number): number {
  const mixed = Math.imul(address ^ Math.imul(linkSeq, LINK_FACTOR), SET_FACTOR)
  return (mixed ^ (mixed >>> 15)) & (SETS - 1)
}
