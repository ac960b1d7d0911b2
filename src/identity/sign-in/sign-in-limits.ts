import { Failure } from '../../platform/failure.ts'
import { AttemptLimits, type Charge } from '../../platform/limits/attempt-limits.ts'
import type { Throttle, Throttles } from '../../platform/limits/throttle.ts'

const WINDOW_SECONDS = 15 * 60
const KEYS_MAX = 100_000
/** Wrong attempts of one address, at all accounts together. */
const PER_ADDRESS = 50

/** Wrong attempts at one account. */
const PER_ACCOUNT = {
  name: 'sign-in-failures',
  windowSeconds: WINDOW_SECONDS,
  perVisitor: 10,
  byKnownGuessers: 20,
  byOthers: 20,
  rememberedSeconds: 24 * 60 * 60,
}

/**
 * Bounds how many wrong passwords and codes are tried: from one address, at one account from one address, and
 * at one account. An account that does not exist has the same limits.
 */
export class SignInLimits {
  readonly #perAccount: AttemptLimits
  readonly #perAddress: Throttle

  constructor(throttles: Throttles) {
    this.#perAccount = new AttemptLimits(throttles, PER_ACCOUNT)
    this.#perAddress = throttles.create('sign-in-failures-of-address', {
      limit: PER_ADDRESS,
      windowSeconds: WINDOW_SECONDS,
      keysMax: KEYS_MAX,
    })
  }

  /**
   * @param account the folded e-mail address; the same for a person that does not exist
   * @param address as `subscriberOf`
   * @throws {Failure} `too_many_attempts` when an attempt would be refused now
   */
  check(account: string, address: string): void {
    const ofAddress = this.#perAddress.peek(address)
    if (!ofAddress.allowed) throw tooMany(ofAddress.resetSeconds)
    const refusal = this.#perAccount.refusal(account, `${account} ${address}`)
    if (refusal !== undefined) throw tooMany(refusal.waitSeconds)
  }

  /**
   * Counts an attempt as a failure until it is given back.
   *
   * @throws {Failure} `too_many_attempts`
   */
  charge(account: string, address: string): Charge {
    this.check(account, address)
    const charge = this.#perAccount.charge(account, `${account} ${address}`)
    if ('waitSeconds' in charge) throw tooMany(charge.waitSeconds)
    this.#perAddress.take(address)
    return {
      keep: charge.keep,
      giveBack: () => {
        charge.giveBack()
        this.#perAddress.refund(address)
      },
    }
  }
}

function tooMany(waitSeconds: number): Failure {
  return Failure.tooManyAttempts(
    `Too many attempts were wrong. Try again in ${waitSeconds} seconds.`,
    waitSeconds,
  )
}
