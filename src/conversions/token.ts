import { type AesSiv, aesSiv, type SivContext } from '../platform/crypto/aes-siv.ts'
import type { Random } from '../platform/crypto/random.ts'

/** What the token of a visit says. Its workspace is part of the key's context instead. */
type Visit = {
  readonly linkSeq: number
  /** When the visitor was redirected, in milliseconds since the epoch. */
  readonly atMs: number
  /** Tells the visit from others, and says nothing of its visitor; below 2^48. */
  readonly visit: number
  /** ISO 3166-1 alpha-2; '' if unknown. */
  readonly country: string
  /** As of a click: '' where there is none. */
  readonly rule: string
  readonly variant: string
  readonly label: string
}

/** Makes the tokens of redirects, and reads those that come back. */
export type VisitTokens = {
  /** Returns 48 characters of base64url, and more for a visit with a rule or a label. */
  make(workspaceId: string, visit: Omit<Visit, 'visit'>): string
  /** Undefined for a token that is forged, damaged, or of another workspace. */
  read(workspaceId: string, token: string): Visit | undefined
}

/** Authenticated with each token, so that a token of another format or workspace cannot be read. */
const FORMAT = 'visit token 1'
const LINK_AT = 0
const INSTANT_AT = 6
const VISIT_AT = 12
const COUNTRY_AT = 18
const TEXTS_AT = 20
const NUMBER_BYTES = 6
const VISITS = 2 ** 48
/** Workspaces whose context is cached. */
const CONTEXTS_MAX = 10_000
/** As long as one with the longest rule, variant and label. */
export const TOKEN_LENGTH_MAX = 1_200
const TOKEN = /^[A-Za-z0-9_-]+$/

/**
 * Seals with AES-SIV (RFC 5297), under a key that other uses do not have.
 *
 * @param key 32 bytes, used for these tokens only
 */
export function visitTokens(key: Buffer, random: Random): VisitTokens {
  const siv = aesSiv(key)
  const contexts = new Contexts(siv)
  // Counted up from a random start: processes practically never meet, and a visit costs no random bytes.
  let nextVisit = Buffer.from(random(NUMBER_BYTES)).readUIntBE(0, NUMBER_BYTES)

  return {
    make(workspaceId, { linkSeq, atMs, country, rule, variant, label }) {
      const isPlain = rule === '' && label === ''
      const texts = isPlain ? undefined : encodeTexts(rule, variant, label)
      const plain = Buffer.allocUnsafe(TEXTS_AT + (texts?.length ?? 0))
      writeNumber(plain, LINK_AT, linkSeq)
      writeNumber(plain, INSTANT_AT, Math.floor(atMs))
      writeNumber(plain, VISIT_AT, nextVisit)
      nextVisit = (nextVisit + 1) % VISITS
      plain[COUNTRY_AT] = country === '' ? 0 : country.charCodeAt(0)
      plain[COUNTRY_AT + 1] = country === '' ? 0 : country.charCodeAt(1)
      if (texts !== undefined) plain.set(texts, TEXTS_AT)
      return siv.seal(contexts.of(workspaceId), plain).toString('base64url')
    },
    read(workspaceId, token) {
      if (token.length > TOKEN_LENGTH_MAX || !TOKEN.test(token)) return undefined
      const sealed = Buffer.from(token, 'base64url')
      // A character may have bits that decoding drops: each token has one spelling.
      if (sealed.toString('base64url') !== token) return undefined
      const plain = siv.open(contexts.of(workspaceId), sealed)
      return plain === undefined || plain.length < TEXTS_AT ? undefined : decode(plain)
    },
  }
}

class Contexts {
  readonly #siv: AesSiv
  readonly #known = new Map<string, SivContext>()

  constructor(siv: AesSiv) {
    this.#siv = siv
  }

  of(workspaceId: string): SivContext {
    const known = this.#known.get(workspaceId)
    if (known !== undefined) return known
    if (this.#known.size >= CONTEXTS_MAX) this.#known.clear()
    const context = this.#siv.bind(Buffer.from(`${FORMAT} ${workspaceId}`))
    this.#known.set(workspaceId, context)
    return context
  }
}

function decode(plain: Buffer): Visit {
  const [rule = '', variant = '', label = ''] = decodeTexts(plain.subarray(TEXTS_AT))
  return {
    linkSeq: plain.readUIntBE(LINK_AT, NUMBER_BYTES),
    atMs: plain.readUIntBE(INSTANT_AT, NUMBER_BYTES),
    visit: plain.readUIntBE(VISIT_AT, NUMBER_BYTES),
    country: plain[COUNTRY_AT] === 0 ? '' : plain.toString('latin1', COUNTRY_AT, TEXTS_AT),
    ...{ rule, variant, label },
  }
}

/** Each text has a length of one byte before it: values of clicks have at most 253 bytes. */
function encodeTexts(...texts: readonly string[]): Buffer {
  const encoded = texts.map((text) => Buffer.from(text))
  return Buffer.concat(encoded.flatMap((bytes) => [Buffer.of(bytes.length), bytes]))
}

function decodeTexts(bytes: Buffer): readonly string[] {
  const texts: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + (bytes[at] ?? 0)
    texts.push(bytes.toString('utf8', at + 1, end))
    at = end
  }
  return texts
}

/** As `writeUIntBE` of 48 bits, which checks its arguments. */
function writeNumber(to: Buffer, at: number, value: number): void {
  const high = Math.floor(value / 2 ** 32)
  to[at] = high >>> 8
  to[at + 1] = high
  to[at + 2] = value >>> 24
  to[at + 3] = value >>> 16
  to[at + 4] = value >>> 8
  to[at + 5] = value
}
