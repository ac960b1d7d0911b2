import { type SipKey, sipHash53 } from '../../platform/crypto/siphash.ts'
import { minuteOf } from '../tally/click-day.ts'

/** For 16,384 pairs of address and link, in 384 KiB: what is larger misses the processor's caches. */
const SETS = 4_096
const PAIRS_PER_SET = 4
/** Entries of a set in each of the two tables, so that it takes one cache line of either, or half. */
const SET_STRIDE = 2 * PAIRS_PER_SET
/** Odd, and with bits in no pattern: neighbouring links fall into sets far apart. */
const LINK_FACTOR = 0x9e37_79b1
const SET_FACTOR = 0x85eb_ca6b

/**
 * Bounds how many clicks of one address on one link are kept one by one in each minute of the clock.
 *
 * Counts in a table of fixed size. Where more pairs come in a minute than it has room for, the pair
 * with the fewest clicks in a set of slots gives way, so a flood of addresses does not make the cap
 * forget an address that sends many. What is forgotten counts from the beginning: an error keeps
 * clicks, and never caps one too early.
 */
export class ClickCap {
  readonly #perMinute: number
  readonly #key: SipKey
  /** Of each set: the address and the link of each pair. */
  readonly #pairs = new Float64Array(SETS * SET_STRIDE)
  /** Of each set: its minute, and the clicks of each pair in that. */
  readonly #counts = new Int32Array(SETS * SET_STRIDE)
  #capped = 0

  /**
   * @param perMinute clicks of one address on one link, from 1 on
   * @param key secret, so that no visitor can choose addresses that fall into the same set
   */
  constructor(perMinute: number, key: SipKey) {
    this.#perMinute = perMinute
    this.#key = key
  }

  /** Clicks that were not admitted since the start. */
  get capped(): number {
    return this.#capped
  }

  /** The number by which the cap knows an address. */
  addressNumber(subscriber: string): number {
    return sipHash53(this.#key, subscriber)
  }

  /** Counts a click, and returns whether it is within the cap. */
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

  /** Begins to count a pair in the place of the one that has the fewest clicks in the set. */
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
