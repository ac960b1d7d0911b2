import { ImportSourceFault } from '../../import-source.ts'
import { charsetOf } from './charset.ts'
import { parseCreateTable } from './names.ts'
import type { TextRules } from './values.ts'

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
