import { AGE_MICROS_MAX } from './session.ts'

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
