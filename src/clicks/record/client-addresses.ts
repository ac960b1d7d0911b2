import { SieveCache } from '../../platform/cache/sieve-cache.ts'
import { sipHash53 } from '../../platform/crypto/siphash.ts'
import { subscriberOf } from '../../platform/network/ip-address.ts'
import { type Countries, isPrivateAddress } from './countries.ts'
import type { UserAgentInfo } from './user-agent.ts'
import type { DaySalt } from './visitor-salts.ts'

/** Cached addresses; about 4 MiB. */
const KNOWN_ADDRESSES_MAX = 16_384

/** Caches what is known of client addresses, in memory only. */
export class ClientAddresses {
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
export class ClientAddress {
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
