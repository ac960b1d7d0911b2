import type { Random } from '../../crypto/random.ts'
import { type Sealing, sealing } from '../../crypto/sealing.ts'
import type { Clock } from '../../time/clock.ts'

/** What was read from a cookie, and when it stops being valid. */
export type Opened<T> = { readonly value: T; readonly expiresAtMicros: number }

/**
 * A cookie for a few minutes that its browser can neither read nor alter. A caller that must use it once keeps
 * a part of its value among the `used_challenges`.
 */
export class SealedCookie<T extends object> {
  readonly #box: Sealing
  readonly #clock: Clock
  readonly #name: string
  readonly #attributes: string
  readonly #lifetimeSeconds: number
  readonly #pattern: RegExp

  /**
   * @param options.name without a prefix
   * @param options.key 32 bytes, used for this cookie only
   * @param options.isSecure whether the base URL is HTTPS: browsers drop Secure cookies of plain HTTP
   */
  constructor(options: {
    name: string
    key: Buffer
    random: Random
    clock: Clock
    isSecure: boolean
    lifetimeSeconds: number
  }) {
    const { isSecure, lifetimeSeconds } = options
    this.#box = sealing(options.key, options.random)
    this.#clock = options.clock
    this.#name = isSecure ? `__Host-${options.name}` : options.name
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
    this.#lifetimeSeconds = lifetimeSeconds
    this.#pattern = new RegExp(`(?:^|;\\s*)${this.#name}=([A-Za-z0-9_-]{1,4000})(?:;|$)`)
  }

  /**
   * Returns the `Set-Cookie` header.
   *
   * @param context what the value is for; `read` must name the same
   */
  issue(value: T, context: string): string {
    const expiresAtMicros = this.#clock.nowMicros() + this.#lifetimeSeconds * 1_000_000
    const plain = Buffer.from(JSON.stringify({ value, expiresAtMicros } satisfies Opened<T>))
    const sealed = this.#box.seal(plain, context).toString('base64url')
    return `${this.#name}=${sealed}; Max-Age=${this.#lifetimeSeconds}; ${this.#attributes}`
  }

  /** Returns what a `Cookie` header holds; undefined where it is absent, expired or of another context. */
  read(header: string | undefined, context: string): Opened<T> | undefined {
    const [, sealed] = this.#pattern.exec(header ?? '') ?? []
    if (sealed === undefined) return undefined
    const plain = this.#box.unseal(Buffer.from(sealed, 'base64url'), context)
    if (plain === undefined) return undefined
    const opened = JSON.parse(plain.toString()) as Opened<T>
    return opened.expiresAtMicros > this.#clock.nowMicros() ? opened : undefined
  }

  /** The `Set-Cookie` header that removes it. */
  get removal(): string {
    return `${this.#name}=; Max-Age=0; ${this.#attributes}`
  }
}
