import type { Random } from '../../platform/crypto/random.ts'
import { type Sealing, sealing } from '../../platform/crypto/sealing.ts'

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
