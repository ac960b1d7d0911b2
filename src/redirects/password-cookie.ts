import { createHmac, timingSafeEqual } from 'node:crypto'
import type { PreparedLink } from './prepared-link.ts'

/** For how long a visitor need not enter a password again. */
const LIFETIME_SECONDS = 10 * 60
const NAME = 'terse_password'
const COOKIE = new RegExp(`(?:^|;\\s*)${NAME}=(\\d{1,12})\\.([A-Za-z0-9_-]{43})(?:;|$)`)

/** Cookies that prove that the visitor has entered the link's password. */
export type PasswordCookies = {
  /** Returns the `Set-Cookie` header for a visitor who has just entered it. */
  issue(link: PreparedLink, path: string, secure: boolean, nowMs: number): string
  /** Returns whether a `Cookie` header holds a valid one for the link's present password. */
  accepts(link: PreparedLink, header: string | undefined, nowMs: number): boolean
}

/** @param key 32 bytes, used for these cookies only */
export function passwordCookies(key: Buffer): PasswordCookies {
  // The sealed password is signed too: a changed password ends the cookies of the old one.
  const sign = (link: PreparedLink, expires: string) =>
    createHmac('sha256', key).update(`${link.seq}\n${link.password?.sealed}\n${expires}`).digest()

  return {
    issue(link, path, secure, nowMs) {
      const expires = String(Math.floor(nowMs / 1000) + LIFETIME_SECONDS)
      const value = `${expires}.${sign(link, expires).toString('base64url')}`
      const attributes = `Path=${path}; Max-Age=${LIFETIME_SECONDS}; HttpOnly; SameSite=Lax`
      return `${NAME}=${value}; ${attributes}${secure ? '; Secure' : ''}`
    },
    accepts(link, header, nowMs) {
      const [, expires, signature] = COOKIE.exec(header ?? '') ?? []
      if (expires === undefined || signature === undefined) return false
      if (Number(expires) * 1000 <= nowMs) return false
      return timingSafeEqual(Buffer.from(signature, 'base64url'), sign(link, expires))
    },
  }
}
