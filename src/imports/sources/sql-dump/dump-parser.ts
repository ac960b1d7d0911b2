import { ImportSourceFault } from '../../import-source.ts'
import { DumpSession, parseInsertHead } from './statements.ts'
import { BYTE, findCode, findQuoteEnd, isQuote, parseTuple } from './values.ts'

/** A row of a table. */
export type DumpRow = {
  readonly table: string
  /** Which of the rows of the table in this dump, from 1. */
  readonly number: number
  /** As INSERT or CREATE TABLE named them; undefined when neither did. */
  readonly columns: readonly string[] | undefined
  /** Empty for a row with a fault. */
  readonly values: readonly (string | null)[]
  readonly fault: string | undefined
  /** Returns the row as it is in the dump. */
  readonly showText: () => string
  /** Where the row ends, in bytes from the beginning of the dump. */
  readonly end: number
  /** The offset of the zone in which the dump shows TIMESTAMP columns; undefined when that is the server's. */
  readonly timeZone: string | undefined
}

/** A row or another statement that is kept in memory may have this many bytes. */
const UNIT_BYTES_MAX = 1024 * 1024
/** The most bytes that are shown of a row that is not kept. */
const SHOWN_BYTES = 2_000

type Insert = { readonly table: string; readonly columns: readonly string[] | undefined }

/**
 * Reads the rows of some tables from a dump of MySQL or MariaDB, which is pushed in chunks. Its memory is bounded
 * by the longest row, and that by 1 MiB.
 */
export class DumpParser {
  readonly #isWanted: (table: string) => boolean
  readonly #session = new DumpSession()
  readonly #rowCounts = new Map<string, number>()
  #bytes: Buffer = Buffer.alloc(0)
  /** Where `#bytes` begins in the dump. */
  #offset = 0
  #rows: DumpRow[] = []
  #mode: 'statement' | 'rows' | 'long row' | 'skip' = 'statement'
  #insert: Insert | undefined
  /** The quote of the string in which the skipped statement is now. */
  #quote: number | undefined
  /** The head of a row that is too long to be kept, and how many of its brackets are open. */
  #longRow = { head: '', depth: 0 }
  /** Whether the statement has begun, so that a dump that ends here is incomplete. */
  #isInside = false

  /** @param isWanted whether rows of the table are returned; others are skipped */
  constructor(isWanted: (table: string) => boolean) {
    this.#isWanted = isWanted
  }

  /**
   * Returns the rows that are complete with this chunk.
   *
   * @throws {ImportSourceFault} when the dump is in an unknown encoding, or holds what no dump does
   */
  push(chunk: Buffer): readonly DumpRow[] {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    this.#readUnits()
    if (this.#bytes.length > UNIT_BYTES_MAX) {
      if (this.#mode !== 'rows') throw this.#tooLong()
      this.#longRow = { head: this.#bytes.toString('utf8', 0, SHOWN_BYTES).trim(), depth: 0 }
      this.#mode = 'long row'
      this.#readUnits()
    }
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  #readUnits(): void {
    let at = 0
    for (;;) {
      const end = this.#step(at)
      if (end === undefined) break
      at = end
    }
    this.#bytes = this.#bytes.subarray(at)
    this.#offset += at
  }

  /** @throws {ImportSourceFault} when the dump is not complete */
  end(): void {
    const left = this.#bytes.toString('latin1').trim()
    const isComment = this.#mode === 'statement' && /^(?:--\s|--$|#)/.test(left)
    if (this.#isInside || (left !== '' && !isComment))
      throw incomplete(`in the middle of a statement, after ${this.#describeRows()}`)
    if (!this.#session.isClosed)
      throw incomplete(`before its last statements, after ${this.#describeRows()}`)
  }

  #describeRows(): string {
    const counts = [...this.#rowCounts].map(([table, count]) => `${count} rows of ${table}`)
    return counts.length === 0 ? 'no rows' : counts.join(' and ')
  }

  /** Reads one unit at `at`, and returns where it ends; undefined when more bytes are needed. */
  #step(at: number): number | undefined {
    if (this.#mode === 'skip') return this.#skip(at)
    if (this.#mode === 'long row') return this.#skipLongRow(at)
    const code = findCode(this.#bytes, at)
    // What was only space or comments is not kept.
    if (code === undefined) return undefined
    return this.#mode === 'rows' ? this.#readRow(code) : this.#readStatement(code)
  }

  #readStatement(at: number): number | undefined {
    this.#isInside = false
    const bytes = this.#bytes
    if (bytes[at] === BYTE.semicolon) return at + 1
    const start = bytes.toString('latin1', at, at + 32)
    if (/^delimiter\s/i.test(start)) return this.#readDelimiter(at)
    if (!/^[a-z]+[^a-z]/i.test(start) && bytes.length - at < 32) return undefined
    this.#isInside = true
    const word = /^[a-z]*/i.exec(start)?.[0].toUpperCase() ?? ''
    if (this.#session.isDelimited) return this.#beginSkip(at)
    if (word === 'INSERT' || word === 'REPLACE') return this.#readInsert(at)
    if (word === 'CREATE' || word === 'SET') return this.#readWhole(at)
    if (word === 'COPY') throw foreign()
    return this.#beginSkip(at)
  }

  #beginSkip(at: number): number {
    this.#mode = 'skip'
    return at
  }

  /** The client's command that changes what ends a statement, around triggers and procedures. */
  #readDelimiter(at: number): number | undefined {
    const end = this.#bytes.indexOf(BYTE.newline, at)
    if (end === -1) return undefined
    this.#session.setDelimiter(this.#bytes.toString('latin1', at, end))
    return end + 1
  }

  #readInsert(at: number): number | undefined {
    const head = parseInsertHead(this.#bytes, at, this.#session.rules)
    if (head === undefined) return undefined
    if (head.table === undefined || !this.#isWanted(head.table)) return this.#beginSkip(at)
    if (head.fault !== undefined)
      throw new ImportSourceFault(`INSERT into ${head.table}: ${head.fault}`, {
        isTransient: false,
      })
    const columns = head.columns ?? this.#session.columnsOf(head.table)
    this.#insert = { table: head.table, columns }
    this.#mode = 'rows'
    return head.end
  }

  /** Reads CREATE TABLE and SET, whose whole text says how the rows after it are read. */
  #readWhole(at: number): number | undefined {
    const end = this.#findStatementEnd(at)
    if (end === undefined) return undefined
    this.#session.run(this.#bytes.toString('utf8', at, end))
    this.#isInside = false
    return end
  }

  #findStatementEnd(from: number): number | undefined {
    let at = from
    for (;;) {
      const code = findCode(this.#bytes, at)
      if (code === undefined) return undefined
      const byte = this.#bytes[code]
      if (byte === BYTE.semicolon) return code + 1
      const end = isQuote(byte)
        ? findQuoteEnd(this.#bytes, code, this.#session.rules.backslashEscapes)
        : code + 1
      if (end === undefined) return undefined
      at = end
    }
  }

  #readRow(at: number): number | undefined {
    const byte = this.#bytes[at]
    const insert = this.#insert
    if (byte === BYTE.comma) return at + 1
    if (byte === BYTE.semicolon) {
      this.#mode = 'statement'
      this.#isInside = false
      return at + 1
    }
    // Such as ON DUPLICATE KEY UPDATE, after the rows.
    if (byte !== BYTE.open || insert === undefined) return this.#beginSkip(at)
    const { rules } = this.#session
    const tuple = parseTuple(this.#bytes, at, rules)
    if (tuple === undefined) return undefined
    const number = (this.#rowCounts.get(insert.table) ?? 0) + 1
    this.#rowCounts.set(insert.table, number)
    const bytes = this.#bytes.subarray(at, tuple.end)
    this.#rows.push({
      ...insert,
      number,
      values: tuple.values,
      fault: tuple.fault,
      showText: () => bytes.toString('utf8'),
      end: this.#offset + tuple.end,
      timeZone: this.#session.timeZone,
    })
    return tuple.end
  }

  /** Skips what it can of a row that is not kept, and reports it at its end. */
  #skipLongRow(from: number): number | undefined {
    const bytes = this.#bytes
    for (let at = from; at < bytes.length; ) {
      if (this.#quote !== undefined) {
        const end = this.#skipString(at, this.#quote)
        if (end === undefined) return at === from ? undefined : at
        at = end
        continue
      }
      const byte = bytes[at]
      at += 1
      if (isQuote(byte)) this.#quote = byte
      else if (byte === BYTE.open) this.#longRow.depth += 1
      else if (byte === BYTE.close) this.#longRow.depth -= 1
      if (byte === BYTE.close && this.#longRow.depth === 0) {
        this.#endLongRow(this.#offset + at)
        return at
      }
    }
    return bytes.length === from ? undefined : bytes.length
  }

  #endLongRow(end: number): void {
    const insert = this.#insert
    if (insert === undefined) return
    const { head } = this.#longRow
    const number = (this.#rowCounts.get(insert.table) ?? 0) + 1
    this.#rowCounts.set(insert.table, number)
    const fault = 'It is longer than 1 MiB.'
    const { timeZone } = this.#session
    this.#rows.push({ ...insert, number, values: [], fault, showText: () => head, end, timeZone })
    this.#mode = 'rows'
  }

  /** Skips what it can of a statement without keeping it, however long its strings are. */
  #skip(from: number): number | undefined {
    const bytes = this.#bytes
    let at = from
    while (at < bytes.length) {
      if (this.#quote !== undefined) {
        const end = this.#skipString(at, this.#quote)
        if (end === undefined) return at === from ? undefined : at
        at = end
        continue
      }
      const code = findCode(bytes, at)
      if (code === undefined) return at === from ? undefined : at
      const byte = bytes[code]
      at = code + 1
      if (byte === BYTE.semicolon) {
        this.#mode = 'statement'
        this.#isInside = false
        return at
      }
      // A doubled quote ends a string and begins the next, which is skipped just so.
      if (isQuote(byte)) this.#quote = byte
    }
    return at === from ? undefined : at
  }

  /** Returns a position in the string, or past its end; undefined when more bytes are needed. */
  #skipString(from: number, quote: number): number | undefined {
    const bytes = this.#bytes
    const escapes = this.#session.rules.backslashEscapes && quote !== BYTE.backtick
    for (let at = from; at < bytes.length; at += 1) {
      if (escapes && bytes[at] === BYTE.backslash) {
        if (at + 1 === bytes.length) return at === from ? undefined : at
        at += 1
      } else if (bytes[at] === quote) {
        this.#quote = undefined
        return at + 1
      }
    }
    return bytes.length
  }

  #tooLong(): ImportSourceFault {
    return new ImportSourceFault(
      `A statement, at byte ${this.#offset} of the dump, is longer than 1 MiB: the dump is damaged, or no dump of MySQL.`,
      { isTransient: false },
    )
  }
}

function incomplete(where: string): ImportSourceFault {
  return new ImportSourceFault(`The dump is incomplete: it ends ${where}. Make it again.`, {
    isTransient: false,
  })
}

function foreign(): ImportSourceFault {
  return new ImportSourceFault('This is a dump of PostgreSQL, not of MySQL or MariaDB.', {
    isTransient: false,
  })
}
