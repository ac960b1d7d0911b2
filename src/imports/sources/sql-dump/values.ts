/** Codes of the characters that have a meaning in SQL. All of them are ASCII. */
export const BYTE = {
  tab: 0x09,
  newline: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  exclamation: 0x21,
  doubleQuote: 0x22,
  hash: 0x23,
  quote: 0x27,
  open: 0x28,
  close: 0x29,
  star: 0x2a,
  comma: 0x2c,
  minus: 0x2d,
  slash: 0x2f,
  zero: 0x30,
  nine: 0x39,
  semicolon: 0x3b,
  backslash: 0x5c,
  backtick: 0x60,
} as const

function isSpace(byte: number | undefined): boolean {
  return byte !== undefined && byte <= BYTE.space && byte > 0
}

/** Whether the byte begins a string or a quoted name. */
export function isQuote(byte: number | undefined): boolean {
  return byte === BYTE.quote || byte === BYTE.doubleQuote || byte === BYTE.backtick
}

/**
 * Returns where the quoted text that begins at `at` ends, past its closing quote; undefined when more bytes are
 * needed. A quote in it is doubled, or follows a backslash where `backslashEscapes` is set.
 */
export function findQuoteEnd(
  bytes: Buffer,
  at: number,
  backslashEscapes: boolean,
): number | undefined {
  const quote = bytes[at]
  const escapes = backslashEscapes && quote !== BYTE.backtick
  for (let next = at + 1; next < bytes.length; next += 1) {
    const byte = bytes[next]
    if (escapes && byte === BYTE.backslash) next += 1
    else if (byte === quote) {
      if (next + 1 === bytes.length) return undefined
      if (bytes[next + 1] !== quote) return next + 1
      next += 1
    }
  }
  return undefined
}

/**
 * Returns where the comment that begins at `at` ends; `at` itself when none begins there; undefined when more bytes
 * are needed. The contents of a comment that the server runs (`/*!40101 … *\/`) are no comment: only its two ends
 * are.
 */
function findCommentEnd(bytes: Buffer, at: number): number | undefined {
  const byte = bytes[at]
  if (byte === BYTE.hash) return findLineEnd(bytes, at)
  if (byte === BYTE.minus && bytes[at + 1] === BYTE.minus) {
    const third = bytes[at + 2]
    if (third === undefined) return undefined
    return isSpace(third) ? findLineEnd(bytes, at) : at
  }
  if (byte === BYTE.star && bytes[at + 1] === BYTE.slash) return at + 2
  if (byte === BYTE.slash && bytes[at + 1] === BYTE.star) return findBlockEnd(bytes, at)
  // The second character of a comment's mark may be missing yet.
  const mayBegin = byte === BYTE.minus || byte === BYTE.star || byte === BYTE.slash
  return mayBegin && at + 1 === bytes.length ? undefined : at
}

function findLineEnd(bytes: Buffer, at: number): number | undefined {
  const end = bytes.indexOf(BYTE.newline, at)
  return end === -1 ? undefined : end + 1
}

/** The mark of what a server runs: `/*!`, or `/*M!` for MariaDB, and the version from which it does. */
const RUN_MARK = /^\/\*(M?)!(\d*)/
const RUN_MARK_LENGTH_MAX = 12
/** No server has this version: what is marked with it is for the client. */
const NO_SERVER = 999_999

function findBlockEnd(bytes: Buffer, at: number): number | undefined {
  if (at + RUN_MARK_LENGTH_MAX > bytes.length && bytes.indexOf('*/', at + 2) === -1)
    return undefined
  const mark = RUN_MARK.exec(bytes.toString('latin1', at, at + RUN_MARK_LENGTH_MAX))
  if (mark !== null && Number(mark[2]) < NO_SERVER) return at + mark[0].length
  const end = bytes.indexOf('*/', at + 2)
  return end === -1 ? undefined : end + 2
}

/** Returns the first position that is neither white space nor a comment; undefined when more bytes are needed. */
export function findCode(bytes: Buffer, from: number): number | undefined {
  let at = from
  while (at < bytes.length) {
    if (isSpace(bytes[at])) {
      at += 1
      continue
    }
    const end = findCommentEnd(bytes, at)
    if (end === undefined || end === at) return end
    at = end
  }
  return undefined
}

/** Encodings in which no byte of a longer character looks like a quote or a backslash. */
const ENCODINGS: Readonly<Record<string, string>> = {
  utf8: 'utf-8',
  utf8mb3: 'utf-8',
  utf8mb4: 'utf-8',
  // Bytes as they are: text that PHP stored without naming its encoding, which is UTF-8 in practice.
  binary: 'utf-8',
  ascii: 'utf-8',
  // MySQL's latin1 is Windows' code page.
  latin1: 'windows-1252',
  cp1250: 'windows-1250',
  cp1251: 'windows-1251',
  koi8r: 'koi8-r',
  latin2: 'iso-8859-2',
}

const decoders = new Map<string, TextDecoder>()

/** Returns a decoder of a character set of MySQL, or undefined for one whose text cannot be read. */
export function charsetOf(name: string): TextDecoder | undefined {
  const encoding = Object.hasOwn(ENCODINGS, name.toLowerCase())
    ? ENCODINGS[name.toLowerCase()]
    : undefined
  if (encoding === undefined) return undefined
  let decoder = decoders.get(encoding)
  if (decoder === undefined) {
    decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
    decoders.set(encoding, decoder)
  }
  return decoder
}

/** How the server of a dump reads its text. */
export type TextRules = {
  /** Decodes strings. It throws for bytes that are not of its encoding. */
  readonly decoder: TextDecoder
  /** Whether a backslash escapes the next character: true but for the mode NO_BACKSLASH_ESCAPES. */
  readonly backslashEscapes: boolean
}

/** A row of INSERT. Numbers are text as they were written. */
type Tuple = {
  /** Past its closing parenthesis. */
  readonly end: number
  readonly values: readonly (string | null)[]
  /** Why the values are not complete, as a sentence. */
  readonly fault: string | undefined
}

type Value = { readonly end: number; readonly value: string | null }

/** A value that is no constant, or whose text is not in its encoding. */
class ValueFault extends Error {}

/**
 * Reads the row whose parenthesis opens at `at`. Returns undefined when more bytes are needed. A value that is no
 * constant, such as `NOW()`, makes a row with a fault.
 */
export function parseTuple(bytes: Buffer, at: number, rules: TextRules): Tuple | undefined {
  const values: (string | null)[] = []
  let next = at + 1
  for (;;) {
    const start = findCode(bytes, next)
    if (start === undefined) return undefined
    let value: Value | undefined
    try {
      value = parseValue(bytes, start, rules)
    } catch (error) {
      if (!(error instanceof ValueFault)) throw error
      return faultyTuple(bytes, at, rules, error.message)
    }
    if (value === undefined) return undefined
    const past = findCode(bytes, value.end)
    if (past === undefined) return undefined
    values.push(value.value)
    if (bytes[past] === BYTE.close) return { end: past + 1, values, fault: undefined }
    if (bytes[past] !== BYTE.comma) return faultyTuple(bytes, at, rules, NO_CONSTANT)
    next = past + 1
  }
}

const NO_CONSTANT = 'A value is no constant.'

/** Returns the row without its values; undefined when its end is not among the bytes. */
function faultyTuple(
  bytes: Buffer,
  at: number,
  rules: TextRules,
  fault: string,
): Tuple | undefined {
  const end = findClosing(bytes, at, rules.backslashEscapes)
  return end === undefined ? undefined : { end, values: [], fault }
}

/** Returns the position past the parenthesis that closes the one at `at`; undefined when more bytes are needed. */
export function findClosing(
  bytes: Buffer,
  at: number,
  backslashEscapes: boolean,
): number | undefined {
  let depth = 0
  let next = at
  while (next < bytes.length) {
    const code = findCode(bytes, next)
    if (code === undefined) return undefined
    const byte = bytes[code]
    if (isQuote(byte)) {
      const end = findQuoteEnd(bytes, code, backslashEscapes)
      if (end === undefined) return undefined
      next = end
      continue
    }
    if (byte === BYTE.open) depth += 1
    if (byte === BYTE.close) depth -= 1
    next = code + 1
    if (depth === 0) return next
  }
  return undefined
}

/** A number, a word, or the mark of a string in another encoding or base. */
const BARE = /^[-+]?[\w.$]+(?:(?<=[eE])[-+]\d+)?/
const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/
/** Longer words are no constants; numbers in base 16 may be as long as a row. */
const WORD_LENGTH_MAX = 64

function parseValue(bytes: Buffer, at: number, rules: TextRules): Value | undefined {
  const byte = bytes[at]
  if (byte === BYTE.quote || byte === BYTE.doubleQuote) return parseStrings(bytes, at, rules)
  if (byte === BYTE.zero && (bytes[at + 1] === 0x78 || bytes[at + 1] === 0x58))
    return parseBareHex(bytes, at, rules)
  const end = findBareEnd(bytes, at)
  if (end === undefined) return undefined
  const word = BARE.exec(bytes.toString('latin1', at, Math.min(end, at + WORD_LENGTH_MAX)))?.[0]
  if (word === undefined || at + word.length !== end) throw new ValueFault(NO_CONSTANT)
  const upper = word.toUpperCase()
  if (upper === 'NULL') return { end, value: null }
  if (upper === 'TRUE') return { end, value: '1' }
  if (upper === 'FALSE') return { end, value: '0' }
  if (NUMBER.test(word)) return { end, value: word }
  return parseMarked(bytes, word, end, rules)
}

/** Returns where a word or number ends; undefined when more bytes are needed. */
function findBareEnd(bytes: Buffer, from: number): number | undefined {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === undefined || byte <= BYTE.space || byte === BYTE.comma || byte === BYTE.close)
      return at
    if (isQuote(byte) || byte === BYTE.open || byte === BYTE.slash) return at
  }
  return undefined
}

/** Reads `x'…'`, `b'…'`, `N'…'` and `_utf8mb4'…'`. */
function parseMarked(
  bytes: Buffer,
  mark: string,
  markEnd: number,
  rules: TextRules,
): Value | undefined {
  const at = findCode(bytes, markEnd)
  if (at === undefined) return undefined
  const lower = mark.toLowerCase()
  const isBase = lower === 'x' || lower === 'b'
  if (!isQuote(bytes[at]) || (isBase && at !== markEnd)) throw new ValueFault(NO_CONSTANT)
  if (!isBase) {
    const decoder = lower === 'n' ? rules.decoder : charsetOf(lower.replace(/^_/, ''))
    if (decoder === undefined || !(lower === 'n' || lower.startsWith('_')))
      throw new ValueFault(NO_CONSTANT)
    return parseStrings(bytes, at, { ...rules, decoder })
  }
  const end = findQuoteEnd(bytes, at, rules.backslashEscapes)
  if (end === undefined) return undefined
  const digits = bytes.toString('latin1', at + 1, end - 1)
  if (lower === 'b') {
    if (!/^[01]{1,64}$/.test(digits)) throw new ValueFault(NO_CONSTANT)
    return { end, value: BigInt(`0b${digits}`).toString() }
  }
  return { end, value: decodeHex(digits, rules) }
}

function parseBareHex(bytes: Buffer, at: number, rules: TextRules): Value | undefined {
  const end = findBareEnd(bytes, at)
  if (end === undefined) return undefined
  return { end, value: decodeHex(bytes.toString('latin1', at + 2, end), rules) }
}

function decodeHex(digits: string, rules: TextRules): string {
  if (!/^(?:[0-9a-fA-F]{2})*$/.test(digits)) throw new ValueFault(NO_CONSTANT)
  return decode(Buffer.from(digits, 'hex'), rules)
}

/** Reads a string, and those that follow it with only space between: together they are one value. */
function parseStrings(bytes: Buffer, from: number, rules: TextRules): Value | undefined {
  const parts: Buffer[] = []
  let at = from
  for (;;) {
    const end = findQuoteEnd(bytes, at, rules.backslashEscapes)
    if (end === undefined) return undefined
    parts.push(unescapeText(bytes, at, end, rules.backslashEscapes))
    const next = findCode(bytes, end)
    if (next === undefined) return undefined
    if (bytes[next] !== BYTE.quote && bytes[next] !== BYTE.doubleQuote) {
      const [first] = parts
      const all = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts)
      return { end, value: decode(all, rules) }
    }
    at = next
  }
}

function decode(bytes: Buffer, { decoder }: TextRules): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new ValueFault(`A text is not valid ${decoder.encoding}.`)
  }
}

/** What a character after a backslash stands for; any other stands for itself. */
const ESCAPED: Readonly<Record<number, number>> = {
  [BYTE.zero]: 0,
  98: 0x08, // b
  110: BYTE.newline,
  114: BYTE.carriageReturn,
  116: BYTE.tab,
  90: 0x1a, // Z
}
const PERCENT = 0x25
const UNDERSCORE = 0x5f

/** Returns the bytes of the string from its opening quote at `at` to its end. */
function unescapeText(bytes: Buffer, at: number, end: number, backslashEscapes: boolean): Buffer {
  const inner = bytes.subarray(at + 1, end - 1)
  const quote = bytes[at] ?? BYTE.quote
  if (!inner.includes(quote) && !(backslashEscapes && inner.includes(BYTE.backslash))) return inner
  const text = Buffer.alloc(inner.length)
  let length = 0
  for (let next = 0; next < inner.length; next += 1) {
    let byte = inner[next] ?? 0
    if (byte === quote) next += 1
    else if (backslashEscapes && byte === BYTE.backslash) {
      next += 1
      const escaped = inner[next] ?? 0
      // In a pattern these stay escaped, so the server keeps the backslash.
      if (escaped === PERCENT || escaped === UNDERSCORE) {
        text[length] = BYTE.backslash
        length += 1
      }
      byte = ESCAPED[escaped] ?? escaped
    }
    text[length] = byte
    length += 1
  }
  return text.subarray(0, length)
}
