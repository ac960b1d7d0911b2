import { type Random, randomString } from '../platform/crypto/random.ts'
import type { Parsed } from '../platform/failure.ts'

/** In code points, after normalisation. */
const KEY_LENGTH_MAX = 190

/**
 * How many links of a domain may have keys that differ only by letter case. Far more than an import from
 * a service with case-sensitive keys needs, and few enough to read on each write.
 */
export const KEY_VARIANTS_MAX = 16

/** Without characters that are easily confused: 0, 1, i, l, o. */
const GENERATED_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'
const GENERATED_LENGTH = 7

/**
 * Letters, marks (many scripts cannot be written without them), digits and signs; emoji, of which sequences are joined
 * by U+200D and regions' flags end with U+E007F (Unicode Technical Standard 51); flags of countries as pairs. Each
 * character matches in one way, so that no input makes the match slow. The sign of a keycap is a mark; "#" and "*",
 * which have keycaps too, would end the path of an address.
 */
const KEY = new RegExp(
  [
    String.raw`^(?:[\p{L}\p{M}\p{N}\-_.~/\p{Extended_Pictographic}\p{Emoji_Modifier}]`,
    String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\uFE0F?)\u200D(?=\p{Extended_Pictographic})`,
    String.raw`(?<=\u{1F3F4})[\u{E0020}-\u{E007E}]{2,6}\u{E007F}`,
    String.raw`\p{Regional_Indicator}{2})+$`,
  ].join('|'),
  'u',
)
const ASCII = /^[\x20-\x7e]*$/

/** First path segments that the service uses on its own host. */
const RESERVED = new Set([
  'api',
  'app',
  'docs',
  'assets',
  'internal',
  '.well-known',
  'livez',
  'readyz',
  'metrics',
  'robots.txt',
  'favicon.ico',
])

/** Returns the key in Unicode normal form C, in which keys are stored and looked up. */
export function parseKey(text: string): Parsed<string> {
  const key = text.normalize('NFC')
  const length = [...key].length
  if (length < 1 || length > KEY_LENGTH_MAX) {
    return { fault: `must have 1 to ${KEY_LENGTH_MAX} characters` }
  }
  if (!KEY.test(key))
    return { fault: 'may hold only letters, digits, emoji, "-", "_", ".", "~" and "/"' }
  for (const segment of key.split('/')) {
    if (segment === '') return { fault: 'must not begin or end with "/" or hold "//"' }
    if (segment === '.' || segment === '..') return { fault: 'must not hold a "." or ".." segment' }
  }
  return { value: key }
}

export const KEY_RESERVED = 'is reserved for the service itself on this domain'

/** Whether the service uses this path itself, so that no link on its own host may have the key. */
export function isReservedKey(key: string): boolean {
  const end = key.indexOf('/')
  return RESERVED.has(foldKey(end === -1 ? key : key.slice(0, end)))
}

/** Whether the service itself, not a link, answers this path on its own host. */
export function isServicePath(path: string): boolean {
  return path === '/' || isReservedKey(path.slice(1))
}

/**
 * Returns the folded key, which keys that differ only by letter case share: Unicode's simple case
 * folding, character by character, so that the result does not depend on neighbouring characters (the
 * lower case of a final sigma does).
 */
export function foldKey(key: string): string {
  if (ASCII.test(key)) return key.toLowerCase()
  let folded = ''
  for (const character of key.normalize('NFC')) {
    const upper = character.toUpperCase()
    const single = upper.length === character.length ? upper : character
    folded += single.toLowerCase()
  }
  return folded
}

/** Returns a random key of 31^7 = 27.5 billion possible ones; the caller retries a rare collision. */
export function generateKey(random: Random): string {
  return randomString(random, GENERATED_ALPHABET, GENERATED_LENGTH)
}
