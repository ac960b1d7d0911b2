import { hash } from 'node:crypto'
import type { Random } from '../../platform/crypto/random.ts'

/** A person's sign-in on one device. */
export type Session = {
  readonly id: string
  readonly person_id: string
  /** Browser and system, for the person to recognize it. */
  readonly device: string
  /** Microseconds since the epoch, as are all times here. */
  readonly created_at: number
  /** When the person last proved who they are. */
  readonly authenticated_at: number
  /** To the minute. */
  readonly last_seen_at: number
}

const HOUR_MICROS = 60 * 60 * 1_000_000
/** A session that is not used for this long ends. */
export const IDLE_MICROS_MAX = 7 * 24 * HOUR_MICROS
/** No session lasts longer, however often it is used. */
export const AGE_MICROS_MAX = 30 * 24 * HOUR_MICROS
/** For how long a person may do what needs a recent authentication. */
export const FRESH_MICROS = 10 * 60 * 1_000_000

/** When the session ends unless it is used before. */
export function expiryOf({ created_at, last_seen_at }: Session): number {
  return Math.min(created_at + AGE_MICROS_MAX, last_seen_at + IDLE_MICROS_MAX)
}

const PERSON_BYTES = 16
const RANDOM_BYTES = 32
const SECRET = /^[A-Za-z0-9_-]{64}$/

/**
 * The secret of a session, which its cookie holds: the person's identifier and 32 random bytes, in base64url.
 * With the identifier in it, all that is cached of a person has one name, and wrong secrets of a cached person
 * cost no query.
 */
export function generateSessionSecret(random: Random, personId: string): string {
  const person = Buffer.from(personId.replaceAll('-', ''), 'hex')
  return Buffer.concat([person, random(RANDOM_BYTES)]).toString('base64url')
}

/** The person that a secret names; undefined for text that is no secret. */
export function personOfSecret(secret: string): string | undefined {
  if (!SECRET.test(secret)) return undefined
  const hex = Buffer.from(secret, 'base64url').subarray(0, PERSON_BYTES).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** All that is stored of a secret: its SHA-256, in hexadecimal. It has too many bits to be guessed. */
export function hashSessionSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

const NAME = 'terse_session'

/** The cookie that holds a session's secret. */
export class SessionCookie {
  readonly name: string
  readonly #attributes: string
  readonly #pattern: RegExp

  /**
   * @param isSecure whether people reach the service over HTTPS. Browsers refuse `Secure` and `__Host-`
   *   cookies over plain HTTP
   */
  constructor(isSecure: boolean) {
    this.name = isSecure ? `__Host-${NAME}` : NAME
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
    this.#pattern = new RegExp(`(?:^|;) *${this.name}=([A-Za-z0-9_-]+) *(?:;|$)`)
  }

  /** The secret in a `Cookie` header. */
  read(header: string | undefined): string | undefined {
    return header === undefined ? undefined : this.#pattern.exec(header)?.[1]
  }

  /** The `Set-Cookie` header of a new secret. */
  issue(secret: string): string {
    return `${this.name}=${secret}; Max-Age=${AGE_MICROS_MAX / 1_000_000}; ${this.#attributes}`
  }

  /** The `Set-Cookie` header that deletes it. */
  clear(): string {
    return `${this.name}=; Max-Age=0; ${this.#attributes}`
  }
}
