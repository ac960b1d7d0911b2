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
