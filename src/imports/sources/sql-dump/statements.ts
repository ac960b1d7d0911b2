import { ImportSourceFault } from '../../import-source.ts'
import {
  BYTE,
  charsetOf,
  findClosing,
  findCode,
  findQuoteEnd,
  isQuote,
  type TextRules,
} from './values.ts'

const DELIMITER_DEFAULT = ';'

/** What the statements of a dump so far have set, as a server's session that runs them would have it. */
export class DumpSession {
  #rules: TextRules = { decoder: new TextDecoder('utf-8', { fatal: true }), backslashEscapes: true }
  #timeZone: string | undefined
  #delimiter = DELIMITER_DEFAULT
  #isClosed = true
  readonly #columns = new Map<string, readonly string[]>()

  get rules(): TextRules {
    return this.#rules
  }

  /** As a dump sets it, such as `+00:00`; undefined for that of the server. */
  get timeZone(): string | undefined {
    return this.#timeZone
  }

  /** Whether statements may hold semicolons, as around the bodies of triggers. */
  get isDelimited(): boolean {
    return this.#delimiter !== DELIMITER_DEFAULT
  }

  /** Whether the settings that a dump saves at its beginning are restored, which it does at its end. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  columnsOf(table: string): readonly string[] | undefined {
    return this.#columns.get(table)
  }

  /** @param command the whole line */
  setDelimiter(command: string): void {
    this.#delimiter = command.trim().split(/\s+/)[1] ?? DELIMITER_DEFAULT
  }

  /** @throws {ImportSourceFault} when the text that follows cannot be read */
  run(statement: string): void {
    const created = parseCreateTable(statement)
    if (created !== undefined) this.#columns.set(created.table, created.columns)
    if (!/^set\b/i.test(statement)) return
    const charset = /^set\s+names\s+['"]?(\w+)/i.exec(statement)?.[1]
    if (charset !== undefined) this.#setCharset(charset)
    const zone = /\btime_zone\s*=\s*(?:'([^']*)'|"([^"]*)"|(@))/i.exec(statement)
    if (zone !== null) this.#timeZone = zone[3] === undefined ? (zone[1] ?? zone[2]) : undefined
    if (this.#timeZone?.toUpperCase() === 'SYSTEM') this.#timeZone = undefined
    if (/\bsql_mode\s*=/i.test(statement)) {
      const backslashEscapes = !/NO_BACKSLASH_ESCAPES/i.test(statement)
      this.#rules = { ...this.#rules, backslashEscapes }
    }
    if (/@old_sql_notes\s*=/i.test(statement)) this.#isClosed = false
    if (/=\s*@old_sql_notes/i.test(statement)) this.#isClosed = true
  }

  #setCharset(name: string): void {
    const decoder = charsetOf(name)
    if (decoder === undefined)
      throw new ImportSourceFault(
        `The dump is in the character set ${name}, which cannot be read. Make it with --default-character-set=utf8mb4.`,
        { isTransient: false },
      )
    this.#rules = { ...this.#rules, decoder }
  }
}

/** What is before the rows of INSERT. */
type InsertHead = {
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

/** Returns a name without its quotes. */
function unquoteName(text: string): string {
  const name = text.trim()
  const quote = name[0]
  if (quote !== '`' && quote !== '"') return name
  return name.slice(1, -1).replaceAll(quote + quote, quote)
}

/** Splits a list at its commas, except those in quotes and parentheses. */
function splitColumns(list: string): string[] {
  const items: string[] = []
  let depth = 0
  let start = 0
  let quote: string | undefined
  for (let at = 0; at < list.length; at += 1) {
    const character = list[at]
    if (quote !== undefined) {
      if (character === '\\' && quote === "'") at += 1
      else if (character === quote) quote = undefined
    } else if (character === '`' || character === '"' || character === "'") quote = character
    else if (character === '(') depth += 1
    else if (character === ')') depth -= 1
    else if (character === ',' && depth === 0) {
      items.push(list.slice(start, at))
      start = at + 1
    }
  }
  items.push(list.slice(start))
  return items.map((item) => item.trim()).filter((item) => item !== '')
}

const NO_COLUMN =
  /^(?:primary|unique|key|index|constraint|fulltext|spatial|foreign|check|period|exclude)\b/i
const NAME = '(?:`(?:[^`]|``){1,64}`|"(?:[^"]|""){1,64}"|[\\w$\\u0080-\\uffff]{1,64})'
const CREATE_TABLE = new RegExp(
  `^create\\s+(?:temporary\\s+)?table\\s+(?:if\\s+not\\s+exists\\s+)?(?:${NAME}\\s*\\.\\s*)?(${NAME})\\s*\\(`,
  'i',
)
const COLUMN = new RegExp(`^${NAME}`)

/** Returns the table that a statement creates, and its columns in order; undefined for any other statement. */
function parseCreateTable(
  statement: string,
): { readonly table: string; readonly columns: readonly string[] } | undefined {
  const head = CREATE_TABLE.exec(statement)
  const name = head?.[1]
  if (head === null || name === undefined) return undefined
  const body = statement.slice(head[0].length, statement.lastIndexOf(')'))
  const columns = splitColumns(body)
    .filter((item) => !NO_COLUMN.test(item))
    .map((item) => unquoteName(COLUMN.exec(item)?.[0] ?? item))
  return { table: unquoteName(name), columns }
}
