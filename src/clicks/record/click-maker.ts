import { hasQrMark } from '../../links/index.ts'
import { SieveCache } from '../../platform/cache/sieve-cache.ts'
import { type SipKey, sipHash53 } from '../../platform/crypto/siphash.ts'
import { isPrivateAddress, subscriberOf } from '../../platform/network/ip-address.ts'
import {
  CLICK_FLAGS,
  type Click,
  cappedClick,
  NO_RULE,
  type Place,
  type RuleValues,
} from '../click.ts'
import { minuteOf } from '../tally/click-day.ts'
import type { Places } from './places.ts'
import {
  firstLanguage,
  flagsOfVisit,
  parseUserAgent,
  type RawVisit,
  referrerHost,
  type UserAgentInfo,
} from './raw-visit.ts'
import type { DaySalt, VisitorSalts } from './visitor-salts.ts'

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

/**
 * Creates the click for a visit that is redirected to a link's destination.
 *
 * @param ruled what the link's rules decided, if one matched
 * @param label '' for none
 * @param limit for a link with a limit: whether the click took one of it, or is a machine's, which takes none
 */
export type ClickMaker = (
  linkSeq: number,
  visit: RawVisit,
  ruled?: RuleValues,
  label?: string,
  limit?: LimitUse,
) => Click

type LimitUse = 'taken' | 'machine'

/** Why several visitors may share one address. */
export type SharedAddress = 'untrusted proxy' | 'private address'

/** Where such a visit comes from. */
export type SharedFrom = { readonly address: string; readonly isPrivate: boolean }

/**
 * @param deps.cap undefined if clicks are not capped
 * @param deps.onSharedAddress called for visits that may wrongly be attributed to one visitor
 */
export function clickMaker(deps: {
  salts: Pick<VisitorSalts, 'at'>
  places: Places
  cap: ClickCap | undefined
  onSharedAddress: (why: SharedAddress, from: SharedFrom) => void
}): ClickMaker {
  const { cap, onSharedAddress } = deps
  const addresses = new ClientAddresses(
    deps.places,
    (subscriber) => cap?.addressNumber(subscriber) ?? 0,
  )

  function isWithinCap(address: ClientAddress, linkSeq: number, visit: RawVisit): boolean {
    const { isPrivate } = address
    // All visitors share the address of a local proxy, so they cannot be distinguished.
    const hidesVisitors = visit.isForwarded && isPrivate
    if (hidesVisitors) onSharedAddress('untrusted proxy', { address: visit.address, isPrivate })
    if (cap === undefined || hidesVisitors) return true
    if (cap.admits(address.number, linkSeq, visit.at)) return true
    if (visit.isForwarded || isPrivate) {
      const why = visit.isForwarded ? 'untrusted proxy' : 'private address'
      onSharedAddress(why, { address: visit.address, isPrivate })
    }
    return false
  }

  return (linkSeq, visit, ruled = NO_RULE, label = '', limit) => {
    const { at } = visit
    const address = addresses.find(visit.address)
    const isTaken = limit === 'taken'
    // A limit is exact, so each click that it allows is counted, and it bounds what is stored.
    if (!isTaken && !isWithinCap(address, linkSeq, visit)) return cappedClick(linkSeq, at, 1)
    const agent = parseUserAgent(visit.userAgent)
    const flags = isTaken ? 0 : flagsOfVisit(visit)
    return {
      at,
      link_seq: linkSeq,
      flags: limit === 'machine' && flags === 0 ? CLICK_FLAGS.bot : flags,
      count: 1,
      visitor: address.visitor(agent, deps.salts.at(at)),
      country: address.place.country,
      device: agent.kind,
      os: agent.os,
      browser: agent.browser,
      referrer: referrerHost(visit.referer),
      language: firstLanguage(visit.acceptLanguage),
      source: hasQrMark(visit.query) ? 'qr' : 'direct',
      rule: ruled.rule,
      variant: ruled.variant,
      label,
      region: address.place.region,
      city: address.place.city,
      ...(isTaken && { isLimited: true }),
    }
  }
}

/** What the rules of a link may ask about a visitor. */
export type VisitorFacts = {
  place(address: string): Place
  /** Returns `Click.visitor`. */
  visitor(address: string, userAgent: string | undefined, atMicros: number): number
}

/** Caches addresses for itself, so that visits without rules cost nothing more. */
export function visitorFacts(deps: {
  salts: Pick<VisitorSalts, 'at'>
  places: Places
}): VisitorFacts {
  const addresses = new ClientAddresses(deps.places, () => 0)
  return {
    place: (address) => addresses.find(address).place,
    visitor: (address, userAgent, atMicros) =>
      addresses.find(address).visitor(parseUserAgent(userAgent), deps.salts.at(atMicros)),
  }
}

/** Cached addresses; about 4 MiB. */
const KNOWN_ADDRESSES_MAX = 16_384

/** Caches what is known of client addresses, in memory only. */
class ClientAddresses {
  readonly #places: Places
  readonly #numberOf: (subscriber: string) => number
  readonly #known = new SieveCache<ClientAddress>(KNOWN_ADDRESSES_MAX)

  /** @param numberOf returns the number that identifies a subscriber in `ClickCap` */
  constructor(places: Places, numberOf: (subscriber: string) => number) {
    this.#places = places
    this.#numberOf = numberOf
  }

  find(address: string): ClientAddress {
    const known = this.#known.get(address)
    if (known !== undefined) return known
    const subscriber = subscriberOf(address)
    const found = new ClientAddress({
      place: this.#places(address),
      isPrivate: isPrivateAddress(address),
      subscriber,
      number: this.#numberOf(subscriber),
    })
    this.#known.set(address, found, 1)
    return found
  }
}

/** The facts about one client address. */
class ClientAddress {
  readonly place: Place
  /** Whether the address is in a private network, as those of proxies and containers are. */
  readonly isPrivate: boolean
  /** Identifies the subscriber in `ClickCap`. */
  readonly number: number
  readonly #subscriber: string
  // The last result, because the next visit from an address is nearly always by the same visitor.
  #visitor = 0
  #salt: DaySalt | undefined
  #agent: string | undefined

  constructor(facts: { place: Place; isPrivate: boolean; subscriber: string; number: number }) {
    this.place = facts.place
    this.isPrivate = facts.isPrivate
    this.number = facts.number
    this.#subscriber = facts.subscriber
  }

  /**
   * Returns the visitor's number for this address, user agent and the day's salt: the same for all visits
   * of the day. Without the salt it reveals nothing.
   */
  visitor(agent: UserAgentInfo, salt: DaySalt): number {
    if (this.#salt !== salt || this.#agent !== agent.digest) {
      // Addresses contain no line break, so each pair of address and agent gives a different text.
      this.#visitor = sipHash53(salt.key, `${this.#subscriber}\n${agent.digest}`)
      this.#salt = salt
      this.#agent = agent.digest
    }
    return this.#visitor
  }
}
