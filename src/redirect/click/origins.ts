import { subscriberOf } from '../../lib/ip-address.ts'
import { SieveCache } from '../../lib/sieve-cache.ts'
import { sipHash53 } from '../../lib/siphash.ts'
import type { AgentFacts } from './agent.ts'
import type { Countries } from './countries.ts'
import type { DaySalt } from './visitor-salts.ts'

/** Addresses of which the country is at hand; about 4 MiB. */
const KNOWN_ADDRESSES_MAX = 16_384

/** Where visits come from: what an address tells, kept in memory and nowhere else. */
export class Origins {
  readonly #countries: Countries
  readonly #known = new SieveCache<Origin>(KNOWN_ADDRESSES_MAX)

  constructor(countries: Countries) {
    this.#countries = countries
  }

  find(address: string): Origin {
    const known = this.#known.get(address)
    if (known !== undefined) return known
    const origin = new Origin(this.#countries(address), subscriberOf(address))
    this.#known.set(address, origin, 1)
    return origin
  }
}

/** What is known of one address. */
export class Origin {
  /** ISO 3166-1 alpha-2; '' where unknown. */
  readonly country: string
  readonly #subscriber: string
  // The visitor that was asked for last. Nearly always it is the same one's next visit.
  #visitor = 0
  #salt: DaySalt | undefined
  #agent: string | undefined

  constructor(country: string, subscriber: string) {
    this.country = country
    this.#subscriber = subscriber
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
