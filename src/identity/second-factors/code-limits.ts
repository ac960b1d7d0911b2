import { Failure } from '../../platform/failure.ts'
import type { Throttle, Throttles } from '../../platform/limits/throttle.ts'

const PEOPLE_MAX = 100_000

/**
 * Wrong codes of one person, in all processes together. Of a million codes three are right at any time:
 * an attacker with the password finds one with a chance of 1 in 8,000 a day.
 */
const LIMITS = [
  { name: 'wrong-codes', limit: 5, windowSeconds: 5 * 60 },
  { name: 'wrong-codes-of-day', limit: 40, windowSeconds: 24 * 60 * 60 },
] as const

/** Bounds how many wrong codes are tried for one person. */
export class CodeLimits {
  readonly #throttles: readonly Throttle[]

  constructor(throttles: Throttles) {
    this.#throttles = LIMITS.map(({ name, ...limits }) =>
      throttles.create(name, { ...limits, keysMax: PEOPLE_MAX }),
    )
  }

  /**
   * Runs a check, which counts as wrong until it has ended otherwise: so checks at once cannot exceed the
   * limit.
   *
   * @param check resolves with undefined for a wrong code
   * @throws {Failure} `too_many_attempts`, without running it
   */
  async run<T>(personId: string, check: () => Promise<T | undefined>): Promise<T | undefined> {
    this.#refuse(personId)
    for (const throttle of this.#throttles) throttle.take(personId)
    let isWrong = false
    try {
      const result = await check()
      isWrong = result === undefined
      return result
    } finally {
      if (!isWrong) for (const throttle of this.#throttles) throttle.refund(personId)
    }
  }

  #refuse(personId: string): void {
    const verdicts = this.#throttles.map((throttle) => throttle.peek(personId))
    const waits = verdicts.filter(({ allowed }) => !allowed).map((verdict) => verdict.resetSeconds)
    if (waits.length === 0) return
    const seconds = Math.max(...waits)
    throw Failure.tooManyAttempts(`Too many wrong codes. Try again in ${seconds} s.`, seconds)
  }
}
