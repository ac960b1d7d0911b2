import type { Fault } from '@terse/contract/faults'
import { type Random, randomString } from '../platform/crypto/random.ts'
import { Failure, type Parsed } from '../platform/failure.ts'

/** In UTF-16 units: 190 characters of at most two. Longer paths cannot be keys and are never cached. */
const KEY_UNITS_MAX = 380

/**
 * Returns the key that a path requests, in its stored form; undefined for a path that cannot be a key.
 * Drops one trailing slash: no key ends with one, and people and programs add it.
 *
 * @param path as sent, with its leading slash. Node's parser refuses bytes outside ASCII before this.
 */
export function keyOfPath(path: string): string | undefined {
  const encoded = path.slice(1, path.endsWith('/') ? -1 : undefined)
  const key = encoded.includes('%') ? decode(encoded) : encoded
  return key !== undefined && key.length <= KEY_UNITS_MAX ? key : undefined
}

function decode(encoded: string): string | undefined {
  try {
    const decoded = decodeURIComponent(encoded)
    // No key contains a NUL, and PostgreSQL rejects text with one.
    return decoded.includes('\0') ? undefined : decoded.normalize('NFC')
  } catch {
    return undefined
  }
}

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
const SERVICE_SEGMENTS = new Set([
  'api',
  'app',
  'docs',
  'assets',
  'internal',
  'mcp',
  ...['rest', 'v4', 'yourls-api.php'],
  'oembed',
  '.well-known',
  'livez',
  'readyz',
  'metrics',
  'robots.txt',
  'favicon.ico',
])

/**
 * First path segments that only operators use for links on the service's own host, which all workspaces share: people
 * would take the link for a page of the service, and programs for a file about the whole host.
 */
const OPERATOR_SEGMENTS = new Set([
  ...['login', 'log-in', 'logon', 'signin', 'sign-in', 'signup', 'sign-up', 'register'],
  ...['logout', 'log-out', 'logoff', 'signout', 'sign-out', 'session', 'sessions'],
  ...['auth', 'oauth', 'oauth2', 'oidc', 'saml', 'sso', 'mfa', '2fa', 'passkey', 'passkeys'],
  ...['password', 'passwords', 'reset-password', 'password-reset', 'forgot-password'],
  ...['account', 'accounts', 'my-account', 'admin', 'administrator', 'dashboard', 'console'],
  ...['settings', 'setup', 'invitation', 'invitations', 'graphql', 'healthz', 'health'],
  // What browsers ask for by themselves.
  ...['sw.js', 'service-worker.js', 'serviceworker.js', 'manifest.json', 'manifest.webmanifest'],
  ...['site.webmanifest', 'browserconfig.xml', 'opensearch.xml', 'index.html'],
  // What search engines, advertising networks, apps and scanners ask for.
  ...['sitemap.xml', 'sitemap.txt', 'sitemap_index.xml', 'security.txt', 'humans.txt', 'llms.txt'],
  ...['ads.txt', 'app-ads.txt', 'sellers.json', 'crossdomain.xml', 'clientaccesspolicy.xml'],
  ...['apple-app-site-association', 'assetlinks.json'],
])
/** The pictures of a host, in their sizes. */
const OPERATOR_PICTURE =
  /^(?:favicon|apple-touch-icon|android-chrome|mstile|icon)(?:-[\w.-]*)?\.(?:png|ico|svg|gif|jpg|webp)$/

/** How many links of a keyspace may take more of a path than their key: their keys are in memory. */
export const PATH_LINKS_MAX = 1_000

/** A segment of a key that stands for any one segment of a path: `{id}`. `{path}` has a meaning of its own. */
const PLACEHOLDER = /^\{(?!path\})[a-z][a-z0-9_]{0,31}\}$/

export function isPlaceholder(segment: string): boolean {
  return segment.startsWith('{') && PLACEHOLDER.test(segment)
}

export function hasPlaceholders(key: string): boolean {
  return key.includes('{') && key.split('/').some(isPlaceholder)
}

/** Returns the key in Unicode normal form C, in which keys are stored and looked up. */
export function parseKey(text: string): Parsed<string> {
  const key = text.normalize('NFC')
  const length = [...key].length
  if (length < 1) return { fault: { code: 'empty' } }
  if (length > KEY_LENGTH_MAX) return { fault: { code: 'too_long', max: KEY_LENGTH_MAX } }
  const segments = key.split('/')
  const placeholders = segments.filter(isPlaceholder)
  const literal = segments.filter((segment) => !isPlaceholder(segment)).join('/')
  if (placeholders.length === 0 ? !KEY.test(key) : literal !== '' && !KEY.test(literal)) {
    return { fault: { code: 'invalid_key', reason: 'characters' } }
  }
  if (new Set(placeholders).size < placeholders.length) {
    return { fault: { code: 'invalid_key', reason: 'placeholders' } }
  }
  for (const segment of segments) {
    if (segment === '') return { fault: { code: 'invalid_key', reason: 'slashes' } }
    if (segment === '.' || segment === '..') {
      return { fault: { code: 'invalid_key', reason: 'dots' } }
    }
  }
  return { value: key }
}

/** Whether the service itself, not a link, answers this path on its own host. */
export function isServicePath(path: string): boolean {
  return path === '/' || SERVICE_SEGMENTS.has(firstSegment(path.slice(1)))
}

/**
 * Why a link on the service's own host may not get this key; undefined when it may. A link that has the key keeps it.
 *
 * @param actor who gives the key
 */
export function reservationOf(
  key: string,
  actor: { readonly kind: string; readonly isOperator: boolean },
): Fault | undefined {
  const segment = firstSegment(key)
  // A placeholder would take the place of all keys.
  if (SERVICE_SEGMENTS.has(segment) || isPlaceholder(segment))
    return { code: 'reserved', reason: 'service' }
  if (actor.kind === 'system' || actor.isOperator) return undefined
  return OPERATOR_SEGMENTS.has(segment) || OPERATOR_PICTURE.test(segment)
    ? { code: 'reserved', reason: 'operators' }
    : undefined
}

function firstSegment(key: string): string {
  const end = key.indexOf('/')
  return foldKey(end === -1 ? key : key.slice(0, end))
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
export function generateKey(random: Random, length = GENERATED_LENGTH): string {
  return randomString(random, GENERATED_ALPHABET, length)
}

/** When so many generated keys in a row are taken, the cause is a defect, not chance. */
export const GENERATE_ATTEMPTS_MAX = 8

export const KEY_TAKEN: Fault = { code: 'taken', reason: 'link' }

export function keyTaken(): Failure {
  return Failure.invalid({ key: [KEY_TAKEN] })
}

/** Calls `work` with a generated key, and again with another one while the key is taken. */
export async function withGeneratedKey<T>(
  random: Random,
  work: (key: string) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < GENERATE_ATTEMPTS_MAX; attempt += 1) {
    try {
      return await work(generateKey(random))
    } catch (error) {
      if (!isKeyTaken(error)) throw error
    }
  }
  throw new Error(`${GENERATE_ATTEMPTS_MAX} generated keys in a row were taken`)
}

function isKeyTaken(error: unknown): boolean {
  return (
    error instanceof Failure && error.fields?.key?.some(({ code }) => code === 'taken') === true
  )
}
