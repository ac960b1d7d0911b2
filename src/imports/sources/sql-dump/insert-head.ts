import { BYTE, findCode, findQuoteEnd, isQuote } from './bytes.ts'
import { splitColumns, unquoteName } from './names.ts'
import { findClosing, type TextRules } from './values.ts'

/** What is before the rows of INSERT. */
export type InsertHead = {
  /** Where the first row begins, or where the head is left. */
  readonly end: number
  /** Without the name of its database; undefined for a statement that names none. */
  readonly table: string | undefined
  readonly columns: readonly string[] | undefined
  /** Why no rows follow, as a sentence. */
  readonly fault: string | undefined
}

const MODIFIERS = /^(?:insert|replace|low_priority|delayed|high_priority|ignore|into)$/i

/** Reads `INSERT INTO t (a, b) VALUES` at `at`. Returns undefined when more bytes are needed. */
export function parseInsertHead(
  bytes: Buffer,
  at: number,
  rules: TextRules,
): InsertHead | undefined {
  let table: string | undefined
  let columns: readonly string[] | undefined
  let next = at
  for (;;) {
    const code = findCode(bytes, next)
    if (code === undefined) return undefined
    if (bytes[code] === BYTE.open) {
      const end = findClosing(bytes, code, rules.backslashEscapes)
      if (end === undefined) return undefined
      columns = splitColumns(bytes.toString('utf8', code + 1, end - 1)).map(unquoteName)
      next = end
      continue
    }
    const end = findWordEnd(bytes, code, rules)
    if (end === undefined) return undefined
    const word = bytes.toString('utf8', code, end)
    if (/^values?$/i.test(word) && table !== undefined)
      return { end, table, columns, fault: undefined }
    const isName = !MODIFIERS.test(word) && (table === undefined || bytes[code - 1] === 0x2e)
    if (isName) table = unquoteName(word)
    else if (!MODIFIERS.test(word) && word !== '.')
      return { end, table, columns, fault: 'It has no VALUES.' }
    next = end
  }
}

/** Returns where a name, quoted or not, a word or a single character ends. */
function findWordEnd(bytes: Buffer, at: number, rules: TextRules): number | undefined {
  if (isQuote(bytes[at])) return findQuoteEnd(bytes, at, rules.backslashEscapes)
  for (let end = at; end < bytes.length; end += 1) {
    if (/[^\w$\u0080-\u00ff]/.test(String.fromCharCode(bytes[end] ?? 0))) {
      return Math.max(end, at + 1)
    }
  }
  return undefined
}
