import type { Throttle } from '../platform/limits/throttle.ts'
import type { Throttles } from '../platform/limits/throttles.ts'

/** The limits below are numbers of wrong passwords in this time. */
const WINDOW_SECONDS = 60
/** Of one visitor at one link. */
const FAILURES_PER_VISITOR = 10
/** At one link, of all visitors that have failed there before. */
const REPEATED_PER_LINK = 50
/** At one link, of visitors that have not failed there. Known guessers cannot use these up. */
const FIRST_PER_LINK = 50
/** For how long a visitor counts as having failed before. */
const REMEMBERED_SECONDS = 60 * 60
const KEYS_MAX = 100_000

/** An attempt that counts as a failure until the password is known to be right. */
export type Charge = {
  /** Undoes the count. */
  giveBack(): void
  /** Leaves it counted, and remembers that the visitor has failed. */
  keep(): void
}

export type Refusal = { readonly waitSeconds: number }

/**
 * Bounds how many wrong passwords are tried, in all processes together: by one visitor at one link, and
 * by all visitors at one link. Right ones cost nothing, and neither does a failure at another link.
 *
 * However many failures known guessers add, a visitor who has not failed at the link yet has a part of
 * its limit that only such visitors can use.
 */
export class PasswordLimits {
  readonly #perVisitor: Throttle
  readonly #remembered: Throttle
  readonly #repeated: Throttle
  readonly #first: Throttle

  constructor(throttles: Throttles) {
    const perMinute = { windowSeconds: WINDOW_SECONDS, keysMax: KEYS_MAX }
    this.#perVisitor = throttles.create('password-failures-of-visitor', {
      ...perMinute,
      limit: FAILURES_PER_VISITOR,
    })
    this.#repeated = throttles.create('password-failures-repeated', {
      ...perMinute,
      limit: REPEATED_PER_LINK,
    })
    this.#first = throttles.create('password-failures-first', {
      ...perMinute,
      limit: FIRST_PER_LINK,
    })
    this.#remembered = throttles.create('password-failed', {
      limit: 1,
      windowSeconds: REMEMBERED_SECONDS,
      keysMax: KEYS_MAX,
    })
  }

  /** Returns why an attempt would be refused now; undefined where it would be allowed. */
  refusal(link: string, visitor: string): Refusal | undefined {
    const ofVisitor = this.#perVisitor.peek(visitor)
    if (!ofVisitor.allowed) return { waitSeconds: ofVisitor.resetSeconds }
    const ofLink = this.#budgetsFor(visitor).map((budget) => budget.peek(link))
    if (ofLink.some(({ allowed }) => allowed)) return undefined
    return { waitSeconds: Math.min(...ofLink.map(({ resetSeconds }) => resetSeconds)) }
  }

  charge(link: string, visitor: string): Charge | Refusal {
    const refusal = this.refusal(link, visitor)
    if (refusal !== undefined) return refusal
    const budget = this.#budgetsFor(visitor).find((throttle) => throttle.take(link).allowed)
    this.#perVisitor.take(visitor)
    return {
      giveBack: () => {
        this.#perVisitor.refund(visitor)
        budget?.refund(link)
      },
      keep: () => {
        this.#remembered.take(visitor)
      },
    }
  }

  /** Returns the parts of a link's limit that the visitor may use, in the order in which they are used. */
  #budgetsFor(visitor: string): readonly Throttle[] {
    const hasFailed = !this.#remembered.peek(visitor).allowed
    return hasFailed ? [this.#repeated] : [this.#first, this.#repeated]
  }
}
