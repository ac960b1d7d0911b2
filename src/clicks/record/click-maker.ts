import { hasQrMark } from '../../links/index.ts'
import { SieveCache } from '../../platform/cache/sieve-cache.ts'
import { sipHash53 } from '../../platform/crypto/siphash.ts'
import { subscriberOf } from '../../platform/network/ip-address.ts'
import { CLICK_FLAGS, type Click, cappedClick } from '../click.ts'
import type { ClickCap } from './click-cap.ts'
import { type Countries, isPrivateAddress } from './countries.ts'
import { firstLanguage, isPrefetch, type RawVisit, referrerHost } from './raw-visit.ts'
import { parseUserAgent, type UserAgentInfo } from './user-agent.ts'
import type { DaySalt, VisitorSalts } from './visitor-salts.ts'

/** Creates the click for a visit that is redirected to a link's destination. */
export type ClickMaker = (linkSeq: number, visit: RawVisit) => Click

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
  countries: Countries
  cap: ClickCap | undefined
  onSharedAddress: (why: SharedAddress, from: SharedFrom) => void
}): ClickMaker {
  const { cap, onSharedAddress } = deps
  const addresses = new ClientAddresses(
    deps.countries,
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

  return (linkSeq, visit) => {
    const { at } = visit
    const address = addresses.find(visit.address)
    if (!isWithinCap(address, linkSeq, visit)) return cappedClick(linkSeq, at, 1)
    const agent = parseUserAgent(visit.userAgent)
    let flags = agent.flags
    if (visit.method === 'HEAD') flags |= CLICK_FLAGS.head
    if (isPrefetch(visit)) flags |= CLICK_FLAGS.prefetch
    return {
      at,
      link_seq: linkSeq,
      flags,
      count: 1,
      visitor: address.visitor(agent, deps.salts.at(at)),
      country: address.country,
      device: agent.kind,
      os: agent.os,
      browser: agent.browser,
      referrer: referrerHost(visit.referer),
      language: firstLanguage(visit.acceptLanguage),
      source: hasQrMark(visit.query) ? 'qr' : 'direct',
    }
  }
}

/** Cached addresses; about 4 MiB. */
const KNOWN_ADDRESSES_MAX = 16_384

/** Caches what is known of client addresses, in memory only. */
class ClientAddresses {
  readonly #countries: Countries
  readonly #numberOf: (subscriber: string) => number
  readonly #known = new SieveCache<ClientAddress>(KNOWN_ADDRESSES_MAX)

  /** @param numberOf returns the number that identifies a subscriber in `ClickCap` */
  constructor(countries: Countries, numberOf: (subscriber: string) => number) {
    this.#countries = countries
    this.#numberOf = numberOf
  }

  find(address: string): ClientAddress {
    const known = this.#known.get(address)
    if (known !== undefined) return known
    const subscriber = subscriberOf(address)
    const found = new ClientAddress({
      country: this.#countries(address),
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
  /** ISO 3166-1 alpha-2; '' if unknown. */
  readonly country: string
  /** Whether the address is in a private network, as those of proxies and containers are. */
  readonly isPrivate: boolean
  /** Identifies the subscriber in `ClickCap`. */
  readonly number: number
  readonly #subscriber: string
  // The last result, because the next visit from an address is nearly always by the same visitor.
  #visitor = 0
  #salt: DaySalt | undefined
  #agent: string | undefined

  constructor(facts: { country: string; isPrivate: boolean; subscriber: string; number: number }) {
    this.country = facts.country
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
