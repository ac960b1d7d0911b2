import { isIP } from 'node:net'
import {
  type ClickCountRecord,
  type ClickRecord,
  type ImportRecord,
  type ImportSource,
  ImportSourceFault,
  type LinkRecord,
} from '../import-source.ts'
import { RefusedRow, refusedRecord } from './link-record.ts'
import { checkSourceFile, formInsteadOfSql, readSourceFile } from './source-file.ts'
import { DumpParser, type DumpRow } from './sql-dump/dump-parser.ts'

/** How a service keeps its links and clicks in MySQL. */
export type DumpService = {
  readonly name: string
  /** Called before the first row, to read what the rows refer to. */
  begin?(signal: AbortSignal): Promise<void>
  readonly links: DumpTable
  /** @throws {RefusedRow} when the row has a value that cannot be taken */
  toLink(row: NamedRow, at: { readonly resume: string; readonly place: string }): LinkRecord
  readonly clicks: DumpTable
  /** @throws {RefusedRow} when the row has a value that cannot be taken */
  toClick(row: NamedRow, resume: string): ClickRecord | ClickCountRecord
}

const PHASES = ['links', 'clicks'] as const

/**
 * Opens a dump of MySQL or MariaDB. It is read twice, since dumps have tables in the order of their names and
 * clicks may be before links. A position to resume from is a phase and an offset in bytes: all before it is read
 * again, and skipped.
 */
export function openDumpSource(file: string, service: DumpService): ImportSource {
  return {
    name: service.name,
    countLinks: async () => undefined,
    async *read({ resume, signal }) {
      await checkSourceFile(file)
      const form = await formInsteadOfSql(file)
      if (form !== undefined) throw noDump(form)
      await service.begin?.(signal)
      const from = parseResume(resume)
      for (const [index, phase] of PHASES.entries()) {
        if (index < from.phase) continue
        const after = index === from.phase ? from.after : -1
        let isFound = after >= 0
        for await (const row of readDumpRows(file, service[phase], { after, signal })) {
          isFound = true
          yield toRecord(service, phase, row)
        }
        if (!isFound && phase === 'links') throw noLinks(service)
      }
    },
    close: async () => undefined,
  }
}

function toRecord(
  service: DumpService,
  phase: (typeof PHASES)[number],
  row: NamedRow,
): ImportRecord {
  const resume = `${phase}:${row.end}`
  const place = `${row.table}, row ${row.number}`
  try {
    if (row.fault !== undefined) throw new RefusedRow(row.fault)
    return phase === 'links' ? service.toLink(row, { resume, place }) : service.toClick(row, resume)
  } catch (error) {
    if (!(error instanceof RefusedRow)) throw error
    return refusedRecord({
      resume,
      place,
      reason: error.message,
      row: hideAddresses(row.showText()).replace(PASSWORD_HASH, '…'),
    })
  }
}

/** Hashes of bcrypt, as Kutt has them. */
const PASSWORD_HASH = /\$2[abxy]?\$[^'"\s,)]+/g
const QUOTED_ADDRESS = /(['"])([0-9a-f.:]{2,45})\1/gi

/** Replaces addresses of visitors, which no report has. */
function hideAddresses(text: string): string {
  return text.replace(QUOTED_ADDRESS, (quoted, quote: string, value: string) =>
    isIP(value) === 0 ? quoted : `${quote}…${quote}`,
  )
}

function parseResume(resume: string | undefined): { phase: number; after: number } {
  if (resume === undefined) return { phase: 0, after: -1 }
  const [phase, after] = resume.split(':')
  return { phase: phase === 'clicks' ? 1 : 0, after: Number(after) }
}

function noDump(form: string): ImportSourceFault {
  return new ImportSourceFault(`This is not a SQL dump: it looks like ${form}.`, {
    isTransient: false,
  })
}

function noLinks({ name, links }: DumpService): ImportSourceFault {
  return new ImportSourceFault(
    `The dump has no rows of a table "…${links.suffix}" with the columns ${links.columns.join(', ')}: is it a dump for ${name}?`,
    { isTransient: false },
  )
}

/** Returns a column's text. @throws {RefusedRow} when it is NULL */
export function textOf(row: NamedRow, column: string): string {
  const value = row.named.get(column) ?? null
  if (value === null) throw new RefusedRow(`${column} is NULL.`)
  return value
}

/** Returns a count of clicks. @throws {RefusedRow} when it is none */
export function countOf(row: NamedRow, column: string): number {
  const text = textOf(row, column)
  if (!/^\d{1,15}$/.test(text)) throw new RefusedRow(`${column} is no count of clicks.`)
  return Number(text)
}

/** Returns a country as ISO 3166-1 alpha-2, or '' for anything else. */
export function countryOf(text: string | null): string {
  const country = (text ?? '').trim().toUpperCase()
  return /^[A-Z]{2}$/.test(country) && country !== 'XX' ? country : ''
}

/** One table of a service, whose name may have a prefix that its operator chose. */
export type DumpTable = {
  readonly suffix: string
  /** It has these columns, and may have more. */
  readonly columns: readonly string[]
}

/** A row with the values of its columns by their names, in lower case. */
export type NamedRow = DumpRow & { readonly named: ReadonlyMap<string, string | null> }

/**
 * Reads the rows of one table of a dump, and those after a position when one is given.
 *
 * @throws {ImportSourceFault} when the file cannot be read, is incomplete, or has two such tables
 */
export async function* readDumpRows(
  file: string,
  table: DumpTable,
  options: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<NamedRow, void, void> {
  const parser = new DumpParser((name) => name.toLowerCase().endsWith(table.suffix))
  let found: string | undefined
  for await (const chunk of readSourceFile(file, options.signal)) {
    for (const row of parser.push(chunk)) {
      const columns = row.columns?.map((name) => name.toLowerCase())
      if (columns === undefined)
        throw new ImportSourceFault(
          `The dump does not name the columns of ${row.table}: make it with --complete-insert, or without --no-create-info.`,
          { isTransient: false },
        )
      if (!table.columns.every((name) => columns.includes(name))) continue
      found ??= row.table
      if (found !== row.table)
        throw new ImportSourceFault(
          `The dump has several sites (${found} and ${row.table}). Make a dump of each, and import them one by one.`,
          { isTransient: false },
        )
      if (row.end > options.after) yield nameValues(row, columns)
    }
  }
  parser.end()
}

function nameValues(row: DumpRow, columns: readonly string[]): NamedRow {
  const { values } = row
  const isUneven = row.fault === undefined && values.length !== columns.length
  const fault = isUneven
    ? `It has ${values.length} values for ${columns.length} columns.`
    : row.fault
  const named = new Map(columns.map((name, at) => [name, values[at] ?? null]))
  return { ...row, named, fault }
}
