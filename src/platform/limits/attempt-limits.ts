import type { Throttle, Throttles } from './throttle.ts'

const KEYS_MAX = 100_000

/** Numbers of failures in a time. */
export type AttemptLimitOptions = {
  /** The name of the throttles: unique, and the same in every process. */
  readonly name: string
  readonly windowSeconds: number
  /** The most failures of one visitor at one target. */
  readonly perVisitor: number
  /** The most failures at one target of all visitors that have failed there before. */
  readonly byKnownGuessers: number
  /** The most failures at one target of other visitors. Known guessers cannot use these up. */
  readonly byOthers: number
  /** For how long a visitor counts as having failed before. */
  readonly rememberedSeconds: number
}

/** An attempt that counts as a failure until it is known to be right. */
export type Charge = {
  /** Undoes the count. */
  giveBack(): void
  /** Leaves it counted, and remembers that the visitor has failed. */
  keep(): void
}

export type Refusal = { readonly waitSeconds: number }

/**
 * Bounds how many wrong secrets are tried, in all processes together: by one visitor at one target, such as
 * a link or an account, and by all visitors at one target. Right ones cost nothing, and neither does a
 * failure at another target.
 *
 * However many failures known guessers add, a visitor who has not failed at the target yet has a part of
 * its limit that only such visitors can use.
 */
export class AttemptLimits {
  readonly #perVisitor: Throttle
  readonly #remembered: Throttle
  readonly #byKnownGuessers: Throttle
  readonly #byOthers: Throttle

  constructor(throttles: Throttles, options: AttemptLimitOptions) {
    const { name, windowSeconds } = options
    const within = (limit: number) => ({ limit, windowSeconds, keysMax: KEYS_MAX })
    this.#perVisitor = throttles.create(`${name}-of-visitor`, within(options.perVisitor))
    this.#byKnownGuessers = throttles.create(`${name}-repeated`, within(options.byKnownGuessers))
    this.#byOthers = throttles.create(`${name}-first`, within(options.byOthers))
    this.#remembered = throttles.create(`${name}-remembered`, {
      limit: 1,
      windowSeconds: options.rememberedSeconds,
      keysMax: KEYS_MAX,
    })
  }

  /**
   * Returns why an attempt would be refused now; undefined where it would be allowed.
   *
   * @param visitor who tries, together with the target
   */
  refusal(target: string, visitor: string): Refusal | undefined {
    const ofVisitor = this.#perVisitor.peek(visitor)
    if (!ofVisitor.allowed) return { waitSeconds: ofVisitor.resetSeconds }
    const ofTarget = this.#budgetsFor(visitor).map((budget) => budget.peek(target))
    if (ofTarget.some(({ allowed }) => allowed)) return undefined
    return { waitSeconds: Math.min(...ofTarget.map(({ resetSeconds }) => resetSeconds)) }
  }

  charge(target: string, visitor: string): Charge | Refusal {
    const refusal = this.refusal(target, visitor)
    if (refusal !== undefined) return refusal
    const budget = this.#budgetsFor(visitor).find((throttle) => throttle.take(target).allowed)
    this.#perVisitor.take(visitor)
    return {
      giveBack: () => {
        this.#perVisitor.refund(visitor)
        budget?.refund(target)
      },
      keep: () => {
        this.#remembered.take(visitor)
      },
    }
  }

  /** Returns the parts of a target's limit that the visitor may use, in the order in which they are used. */
  #budgetsFor(visitor: string): readonly Throttle[] {
    const hasFailed = !this.#remembered.peek(visitor).allowed
    return hasFailed ? [this.#byKnownGuessers] : [this.#byOthers, this.#byKnownGuessers]
  }
}
