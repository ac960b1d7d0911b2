import { SieveCache } from '../../platform/cache/sieve-cache.ts'
import { sipHash53 } from '../../platform/crypto/siphash.ts'
import { subscriberOf } from '../../platform/network/ip-address.ts'
import type { AgentFacts } from './agent.ts'
import { type Countries, isPrivateAddress } from './countries.ts'
import type { DaySalt } from './visitor-salts.ts'

/** Addresses of which the country is at hand; about 4 MiB. */
const KNOWN_ADDRESSES_MAX = 16_384

/** Where visits come from: what an address tells, kept in memory and nowhere else. */
export class Origins {
  readonly #countries: Countries
  readonly #numberOf: (subscriber: string) => number
  readonly #known = new SieveCache<Origin>(KNOWN_ADDRESSES_MAX)

  /** @param numberOf the number of a subscriber, by which `ClickCap` knows it */
  constructor(countries: Countries, numberOf: (subscriber: string) => number) {
    this.#countries = countries
    this.#numberOf = numberOf
  }

  find(address: string): Origin {
    const known = this.#known.get(address)
    if (known !== undefined) return known
    const subscriber = subscriberOf(address)
    const origin = new Origin({
      country: this.#countries(address),
      isPrivate: isPrivateAddress(address),
      subscriber,
      number: this.#numberOf(subscriber),
    })
    this.#known.set(address, origin, 1)
    return origin
  }
}

/** What is known of one address. */
export class Origin {
  /** ISO 3166-1 alpha-2; '' where unknown. */
  readonly country: string
  /** Whether it is one of a private network, where proxies and containers are. */
  readonly isPrivate: boolean
  /** By which `ClickCap` knows the subscriber. */
  readonly number: number
  readonly #subscriber: string
  // The visitor that was asked for last. Nearly always it is the same one's next visit.
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
   * The visitor at this address with this user agent, under the day's salt: the same number for every
   * visit of the day, and one that tells nothing to whoever lacks the salt.
   */
  visitor(agent: AgentFacts, salt: DaySalt): number {
    if (this.#salt !== salt || this.#agent !== agent.digest) {
      // No address has a line break, so no two pairs of address and agent make one text.
      this.#visitor = sipHash53(salt.key, `${this.#subscriber}\n${agent.digest}`)
      this.#salt = salt
      this.#agent = agent.digest
    }
    return this.#visitor
  }
}
