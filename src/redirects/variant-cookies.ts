import { createHmac, timingSafeEqual } from 'node:crypto'

const PREFIX = 'terse_variant_'
const DAY_SECONDS = 24 * 60 * 60
const VALUE = /^([^.]{1,600})\.(\d{1,12})\.([A-Za-z0-9_-]{43})$/

/** Which split of which link a cookie is about. */
type Split = { readonly linkSeq: number; readonly rule: string }

/** Cookies that keep the variant that a visitor has got. They name the variant, and nothing of the visitor. */
export type VariantCookies = {
  /** Returns the `Set-Cookie` header for a visitor who has just got a variant. */
  issue(
    split: Split,
    kept: { readonly variant: string; readonly days: number },
    to: { readonly path: string; readonly secure: boolean },
    nowMs: number,
  ): string
  /** Returns the variant that a `Cookie` header holds; undefined where there is no valid one. */
  find(split: Split, header: string | undefined, nowMs: number): string | undefined
}

/** @param key 32 bytes, used for these cookies only */
export function variantCookies(key: Buffer): VariantCookies {
  const sign = ({ linkSeq, rule }: Split, variant: string, expires: string) =>
    createHmac('sha256', key).update(`${linkSeq}\n${rule}\n${expires}\n${variant}`).digest()

  return {
    issue(split, { variant, days }, { path, secure }, nowMs) {
      const seconds = days * DAY_SECONDS
      const expires = String(Math.floor(nowMs / 1000) + seconds)
      const text = encodeURIComponent(variant).replaceAll('.', '%2E')
      const value = `${text}.${expires}.${sign(split, variant, expires).toString('base64url')}`
      const attributes = `Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax`
      return `${PREFIX}${split.rule}=${value}; ${attributes}${secure ? '; Secure' : ''}`
    },
    find(split, header, nowMs) {
      const [, text, expires, signature] = VALUE.exec(cookieOf(split.rule, header)) ?? []
      if (text === undefined || expires === undefined || signature === undefined) return undefined
      if (Number(expires) * 1000 <= nowMs) return undefined
      const variant = decoded(text)
      if (variant === undefined) return undefined
      const expected = sign(split, variant, expires)
      return timingSafeEqual(Buffer.from(signature, 'base64url'), expected) ? variant : undefined
    },
  }
}

/** Returns the value of a rule's cookie; '' if there is none. */
function cookieOf(rule: string, header = ''): string {
  const name = `${PREFIX}${rule}=`
  if (!header.includes(name)) return ''
  const cookie = header.split(';').find((text) => text.trimStart().startsWith(name))
  return cookie?.trim().slice(name.length) ?? ''
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
