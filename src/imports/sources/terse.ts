import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { originalText } from '@terse/contract/csv'
import type { ExportedRecord, ExportHead } from '@terse/contract/export'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { type ImportRecord, type ImportSource, ImportSourceFault } from '../import-source.ts'
import type { FileSettings } from '../source-kinds.ts'
import { type CsvRow, parseCsvRows } from './csv/csv-rows.ts'
import { RefusedRow, refusedRecord } from './link-record.ts'
import { checkSourceFile, decodeText, isZip, readSourceFile } from './source-file.ts'
import { parseExportHead, parseExportLine, readNdjson, toTerseRecord } from './terse-record.ts'

/**
 * Opens an export of Terse: NDJSON, or a zip. A position to resume from is an offset in bytes, or a row of a file in the
 * zip.
 */
export function openTerseExport({ file }: Pick<FileSettings, 'file'>): ImportSource {
  return {
    name: 'terse',
    countLinks: async () => undefined,
    async *read({ resume, signal }) {
      if (await isZip(file)) return yield* readTerseZip(file, { resume, signal })
      await checkSourceFile(file)
      yield* readNdjson(readSourceFile(file, signal), resume)
    },
    close: async () => undefined,
  }
}

const HEAD_FILE = 'export.json'
/** The files of an export, in the order in which they are read. */
const FILES: readonly { readonly name: string; readonly type: ExportedRecord['type'] }[] = [
  { name: 'labels.csv', type: 'labels' },
  { name: 'conversion_settings.csv', type: 'conversion_settings' },
  { name: 'utm_templates.csv', type: 'utm_template' },
  { name: 'rule_sets.csv', type: 'rule_set' },
  { name: 'domains.csv', type: 'domain' },
  { name: 'domain_settings.csv', type: 'domain_settings' },
  { name: 'members.csv', type: 'member' },
  { name: 'links.csv', type: 'link' },
  { name: 'click_days.csv', type: 'click_day' },
  { name: 'clicks.csv', type: 'click' },
  { name: 'conversions.csv', type: 'conversion' },
]
const KNOWN: ReadonlySet<string> = new Set([HEAD_FILE, ...FILES.map(({ name }) => name)])
const NDJSON = /\.ndjson$/

const HEAD_BYTES_MAX = 64 * 1024
/** An archive may hold what a person has added; each name is read. */
const ENTRIES_MAX = 1_000
/** What the files of an export may have when they are unpacked: 16 times the largest upload. */
const UNPACKED_BYTES_MAX = 16 * 1024 ** 3

type Options = {
  readonly resume: string | undefined
  readonly signal: AbortSignal
  readonly unpackedBytesMax?: number
}

/**
 * Reads the export in a zip: the CSV files of Terse, or its NDJSON file, in any folder, as people pack them again.
 * Nothing is unpacked to the disk, and files that belong to no export are not read.
 *
 * @throws {ImportSourceFault} when it holds no export, more than one, or too much
 */
export async function* readTerseZip(
  file: string,
  { resume, signal, unpackedBytesMax = UNPACKED_BYTES_MAX }: Options,
): AsyncGenerator<ImportRecord, void, void> {
  const zip = await openZip(file)
  try {
    const entries = await findEntries(zip, unpackedBytesMax)
    const ndjson = [...entries].find(([name]) => NDJSON.test(name))?.[1]
    if (ndjson !== undefined) yield* readNdjson(textOf(zip, ndjson, signal), resume)
    else yield* readCsvFiles(zip, entries, { resume, signal })
  } finally {
    zip.close()
  }
}

async function openZip(file: string): Promise<ZipFile> {
  try {
    return await openPromise(file, { autoClose: false })
  } catch (error) {
    throw damaged('the zip ends early, or is none', error)
  }
}

/** Finds the files of the export by their names in lower case. */
async function findEntries(
  zip: ZipFile,
  unpackedBytesMax: number,
): Promise<ReadonlyMap<string, Entry>> {
  if (zip.entryCount > ENTRIES_MAX) throw refused(`The zip has more than ${ENTRIES_MAX} files.`)
  const found = new Map<string, Entry>()
  let bytes = 0
  try {
    for await (const entry of zip.eachEntry()) {
      const name = nameOf(entry)
      if (!KNOWN.has(name) && !NDJSON.test(name)) continue
      if (isSymbolicLink(entry)) {
        throw refused(`${entry.fileName} is a symbolic link in the zip. Pack the file itself.`)
      }
      if (found.has(name)) {
        throw refused(`The zip has several files ${name}. Pack each export into a zip of its own.`)
      }
      found.set(name, entry)
      bytes += entry.uncompressedSize
    }
  } catch (error) {
    if (error instanceof ImportSourceFault) throw error
    throw damaged('its list of files cannot be read', error)
  }
  if (bytes > unpackedBytesMax) {
    throw refused(
      `The zip has ${bytes} bytes when it is unpacked, and ${unpackedBytesMax} are read at most. Export as NDJSON.`,
    )
  }
  const exports = [...found.keys()].filter((name) => NDJSON.test(name) || name === HEAD_FILE)
  if (exports.length > 1) throw refused(`The zip has several exports: ${exports.join(', ')}.`)
  if (exports.length === 0) {
    throw refused(`The zip is no export of Terse: it has neither ${HEAD_FILE} nor an NDJSON file.`)
  }
  return found
}

/** Programs of Unix store the mode of a file in the upper half of its attributes. */
function isSymbolicLink({ externalFileAttributes }: Entry): boolean {
  return ((externalFileAttributes >>> 16) & 0o170000) === 0o120000
}

/** Returns '' for folders, and for what file managers add. */
function nameOf({ fileName }: Entry): string {
  const parts = fileName.toLowerCase().split('/')
  const name = parts.at(-1) ?? ''
  return parts.includes('__macosx') || name.startsWith('.') ? '' : name
}

async function* readCsvFiles(
  zip: ZipFile,
  entries: ReadonlyMap<string, Entry>,
  { resume = '', signal }: Pick<Options, 'resume' | 'signal'>,
): AsyncGenerator<ImportRecord, void, void> {
  const head = await readHead(zip, entries, signal)
  if (!entries.has('links.csv')) throw refused('The zip is no whole export: it has no links.csv.')
  const [reached = '', row = '0'] = resume.split(':')
  const first = Math.max(
    0,
    FILES.findIndex(({ name }) => name === reached),
  )
  for (const { name, type } of FILES.slice(first)) {
    const entry = entries.get(name)
    if (entry === undefined) continue
    const after = name === reached ? Number(row) : 0
    let columns: readonly string[] = []
    for await (const item of parseCsvRows(textOf(zip, entry, signal))) {
      if ('names' in item) columns = item.names
      else if (item.number > after) yield toRecord(item, { name, type, columns, head })
    }
  }
}

async function readHead(
  zip: ZipFile,
  entries: ReadonlyMap<string, Entry>,
  signal: AbortSignal,
): Promise<ExportHead> {
  const none = `The zip is no export of Terse: ${HEAD_FILE} does not describe one.`
  const entry = entries.get(HEAD_FILE)
  if (entry === undefined || entry.uncompressedSize > HEAD_BYTES_MAX) throw refused(none)
  const text = (await buffer(textOf(zip, entry, signal))).toString()
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw refused(none)
  }
  return parseExportHead(value, none)
}

function toRecord(
  { number, line, values, fault }: CsvRow,
  of: {
    readonly name: string
    readonly type: ExportedRecord['type']
    readonly columns: readonly string[]
    readonly head: ExportHead
  },
): ImportRecord {
  const { name, type, columns, head } = of
  const at = { resume: `${name}:${number}`, place: `${name}, line ${line}` }
  try {
    if (fault !== undefined) throw new RefusedRow(fault)
    const fields = columns.map((column, nth) => [column, cellValue(column, values[nth] ?? '')])
    const record = parseExportLine({ ...Object.fromEntries(fields), type })
    // They have the type that was set above.
    if (record.type === 'export' || record.type === 'cursor' || record.type === 'end') {
      throw new RefusedRow('It is no record.')
    }
    return toTerseRecord(record, at, head)
  } catch (error) {
    if (!(error instanceof RefusedRow)) throw error
    return refusedRecord({ ...at, reason: error.message, row: values.join(',') })
  }
}

const NUMBERS: ReadonlySet<string> = new Set([
  ...['clicks', 'last_click', 'external_id', 'hsts_max_age', 'count', 'bots'],
  ...['window_days', 'value', 'visit'],
])
const FLAGS: ReadonlySet<string> = new Set(['protected', 'is_default', 'track_conversions'])
const LISTS: ReadonlySet<string> = new Set(['tags', 'flags', 'labels'])
const OBJECTS: ReadonlySet<string> = new Set([
  ...['rules', 'examples', 'options', 'imported'],
  ...['utm', 'apple_app_site_association', 'assetlinks'],
])
/** An empty cell is null in all other columns. */
const TEXTS: ReadonlySet<string> = new Set(['name', 'email', 'key', 'url', 'domain'])

/** Returns what a cell stands for; a text that cannot be that as it is, which the check of the record refuses. */
function cellValue(column: string, cell: string): unknown {
  const text = originalText(cell)
  if (TEXTS.has(column)) return text
  if (text === '') return LISTS.has(column) ? [] : null
  if (NUMBERS.has(column)) return /^-?\d{1,16}$/.test(text) ? Number(text) : text
  if (FLAGS.has(column)) return /^true$/i.test(text) || (/^false$/i.test(text) ? false : text)
  if (LISTS.has(column) || OBJECTS.has(column)) return parseJson(text)
  return text
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The text of a file, unpacked while it is read. */
async function* textOf(
  zip: ZipFile,
  entry: Entry,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, void> {
  try {
    yield* decodeText(bytesOf(zip, entry, signal))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ImportSourceFault) throw error
    throw damaged(`${entry.fileName} cannot be unpacked`, error)
  }
}

async function* bytesOf(
  zip: ZipFile,
  entry: Entry,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, void> {
  const { fileName } = entry
  if (entry.isEncrypted()) throw refused('The zip is encrypted. Pack it without a password.')
  if (!entry.canDecodeFileData()) {
    throw refused(`${fileName} is packed in a way that is not read. Pack the zip again.`)
  }
  const stream = await zip.openReadStreamPromise(entry)
  let sum = 0
  try {
    for await (const chunk of stream) {
      signal.throwIfAborted()
      sum = crc32(chunk, sum)
      yield chunk
    }
  } finally {
    stream.destroy()
  }
  if (sum !== entry.crc32) throw damaged(`${fileName} is not what was packed`, undefined)
}

function damaged(what: string, cause: unknown): ImportSourceFault {
  const message = `The zip is damaged: ${what}. Export it again.`
  return new ImportSourceFault(message, { isTransient: false, cause })
}

function refused(message: string): ImportSourceFault {
  return new ImportSourceFault(message, { isTransient: false })
}
