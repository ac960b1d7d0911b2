import { memoize } from '../../platform/cache/memoize.ts'

/** Languages have subtags of two or three letters (RFC 5646, section 2.2.1). */
const FIRST_LANGUAGE = /^[ \t]{0,8}([a-z]{2,3})(?:[-,; \t]|$)/i

/** Returns the primary subtag of the first language of an `Accept-Language` header; '' if none. */
export function firstLanguage(acceptLanguage: string | undefined): string {
  return acceptLanguage === undefined ? '' : languageOf(acceptLanguage)
}

const languageOf = memoize((header) => FIRST_LANGUAGE.exec(header)?.[1]?.toLowerCase() ?? '', {
  countMax: 4096,
  lengthMax: 128,
})
