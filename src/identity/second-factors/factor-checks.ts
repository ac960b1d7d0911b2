import { createHmac } from 'node:crypto'
import type { PasskeyAssertionInput } from '@terse/contract/passkeys'
import { type Random, randomString } from '../../platform/crypto/random.ts'
import { type Sealing, sealing } from '../../platform/crypto/sealing.ts'
import { Failure } from '../../platform/failure.ts'
import type { Throttle, Throttles } from '../../platform/limits/throttle.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Store } from '../../storage/store.ts'
import type { Passkey } from '../store/credential-store.ts'
import type { PasskeyCeremonies, PasskeyChallenges } from './passkey-ceremonies.ts'
import {
  factorFields,
  factorState,
  type GivenFactors,
  type ProvenFactor,
  type SecondFactorField,
  type SecondFactorStores,
  type SecondFactors,
} from './second-factors.ts'

type Dependencies = {
  readonly store: Store<SecondFactorStores>
  readonly clock: Clock
  readonly secrets: TotpSecrets
  /** 32 bytes, used for the hashes of recovery codes only. */
  readonly recoveryKey: Buffer
  readonly challenges: PasskeyChallenges
  readonly ceremonies: PasskeyCeremonies
  readonly limits: CodeLimits
}

/** Checks second factors at sign-in and step-up, with what is stored of them. */
export class FactorChecks implements SecondFactors {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  async required(personId: string): Promise<readonly SecondFactorField[]> {
    return factorFields(await factorState(this.#deps.store.read, personId))
  }

  /** @throws {Failure} `too_many_attempts` after too many wrong codes of the person */
  async verify(
    personId: string,
    { code, passkey }: GivenFactors,
    cookie: string | undefined,
  ): Promise<ProvenFactor | undefined> {
    if (code !== undefined) {
      return this.#deps.limits.run(personId, () => this.#verifyCode(personId, code))
    }
    if (passkey === undefined) return undefined
    const verified = await this.#verifyAssertion(passkey, cookie)
    if (verified?.passkey.person_id !== personId) return undefined
    const { factor } = verified
    return {
      use: async (stores, nowMicros) => {
        if (!(await factor.use(stores, nowMicros))) return false
        // Its user knows the password too, so the passkey is the person's.
        if (verified.passkey.needs_password) {
          await stores.passkeys.setNeedsPassword(verified.passkey.id, false)
        }
        return true
      },
    }
  }

  async verifyPasskey(
    assertion: PasskeyAssertionInput,
    cookie: string | undefined,
  ): Promise<{ readonly personId: string; readonly factor: ProvenFactor } | undefined> {
    const verified = await this.#verifyAssertion(assertion, cookie)
    if (verified === undefined || verified.passkey.needs_password) return undefined
    const { passkey, factor } = verified
    const use: ProvenFactor['use'] = async (stores, nowMicros) => {
      // A new password may have made it a second factor since.
      const now = await stores.passkeys.findByCredential(passkey.credential_id)
      return now?.needs_password === false && factor.use(stores, nowMicros)
    }
    return { personId: passkey.person_id, factor: { use } }
  }

  async #verifyAssertion(
    assertion: PasskeyAssertionInput,
    cookie: string | undefined,
  ): Promise<{ readonly passkey: Passkey; readonly factor: ProvenFactor } | undefined> {
    const { store, challenges, ceremonies } = this.#deps
    const challenge = challenges.read(cookie, 'authenticate')
    if (challenge === undefined) return undefined
    const passkey = await store.read.passkeys.findByCredential(assertion.id)
    if (passkey === undefined) return undefined
    const counter = await ceremonies.verifyRequest(assertion, challenge, passkey)
    if (counter === undefined) return undefined
    const use: ProvenFactor['use'] = async (stores, nowMicros) =>
      (await challenge.redeem(stores)) && stores.passkeys.noteUse(passkey.id, counter, nowMicros)
    return { passkey, factor: { use } }
  }

  async #verifyCode(personId: string, code: string): Promise<ProvenFactor | undefined> {
    const { store, clock, secrets, recoveryKey } = this.#deps
    const digits = code.replaceAll(' ', '')
    const totp = await store.read.totp.find(personId)
    const secret = totp?.sealed_secret ?? ''
    const step = await secrets.stepOf(personId, secret, digits, clock.nowMicros())
    if (step !== undefined) return { use: (stores) => stores.totp.useStep(personId, secret, step) }
    const hash = hashRecoveryCode(recoveryKey, personId, code)
    if (!(await store.read.recoveryCodes.isUnused(personId, hash))) return undefined
    return {
      use: (stores, nowMicros) => stores.recoveryCodes.use(personId, hash, nowMicros),
      eventType: 'recovery_code.used',
    }
  }
}

/** RFC 6238, with the parameters that every authenticator app supports. */
const DIGITS = 6
const PERIOD_SECONDS = 30
const ALGORITHM = 'SHA1'
const SECRET_BYTES = 20
/** Steps before and after the present one whose codes are accepted, because clocks differ. */
const WINDOW_STEPS = 1

export type TotpSetup = {
  readonly sealedSecret: string
  /** In base32. */
  readonly secret: string
  readonly url: string
}

/** Makes and checks the secrets of authenticator apps. Stored, they are sealed for one person each. */
export class TotpSecrets {
  readonly #box: Sealing
  readonly #random: Random
  readonly #issuer: string

  /**
   * @param options.key 32 bytes, used for these secrets only
   * @param options.issuer what apps show beside the account: the host of the service
   */
  constructor(options: { key: Buffer; random: Random; issuer: string }) {
    this.#box = sealing(options.key, options.random)
    this.#random = options.random
    this.#issuer = options.issuer
  }

  async create(personId: string, label: string): Promise<TotpSetup> {
    const { Secret, TOTP } = await import('otpauth')
    const bytes = this.#random(SECRET_BYTES)
    const secret = new Secret({ buffer: Uint8Array.from(bytes).buffer })
    const url = new TOTP({ ...PARAMETERS, issuer: this.#issuer, label, secret }).toString()
    const sealedSecret = this.#box.seal(bytes, contextOf(personId)).toString('base64url')
    return { sealedSecret, secret: secret.base32, url }
  }

  /** Returns the 30-second step that a code belongs to; undefined for a wrong code. */
  async stepOf(
    personId: string,
    sealedSecret: string,
    code: string,
    nowMicros: number,
  ): Promise<number | undefined> {
    const bytes = this.#box.unseal(Buffer.from(sealedSecret, 'base64url'), contextOf(personId))
    if (bytes === undefined) return undefined
    const { Secret, TOTP } = await import('otpauth')
    const secret = new Secret({ buffer: Uint8Array.from(bytes).buffer })
    const totp = new TOTP({ ...PARAMETERS, secret })
    const timestamp = Math.floor(nowMicros / 1_000)
    const delta = totp.validate({ token: code, timestamp, window: WINDOW_STEPS })
    return delta === null ? undefined : totp.counter({ timestamp }) + delta
  }
}

const PARAMETERS = { algorithm: ALGORITHM, digits: DIGITS, period: PERIOD_SECONDS } as const

function contextOf(personId: string): string {
  return `person ${personId}`
}

/** Without characters that look alike. */
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'
const GROUP_LENGTH = 4
const GROUPS = 3
const CODES = 10

/** Ten codes of 59 random bits each, such as `k7f2-9xqm-h3vd`. */
export function generateRecoveryCodes(random: Random): readonly string[] {
  return Array.from({ length: CODES }, () =>
    Array.from({ length: GROUPS }, () => randomString(random, ALPHABET, GROUP_LENGTH)).join('-'),
  )
}

/**
 * What is stored of a code. Keyed, so that who has read the database can guess none offline.
 *
 * @param key 32 bytes, used for these hashes only
 * @param code as a person types it: letter case, spaces and hyphens do not matter
 */
export function hashRecoveryCode(key: Buffer, personId: string, code: string): string {
  const folded = code.toLowerCase().replaceAll(/[\s-]/g, '')
  return createHmac('sha256', key).update(`${personId}\n${folded}`).digest('hex')
}

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
