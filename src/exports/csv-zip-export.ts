import { Readable } from 'node:stream'
import { csvLine } from '@terse/contract/csv'
import type { ExportedRecord, ExportHead } from '@terse/contract/export'
import {
  TEXTS_AFTER_COUNTERS,
  TEXTS_BEFORE_COUNTERS,
  UTM_FIELDS,
} from '@terse/contract/link-fields'
import { ZipFile } from 'yazl'
import { type ExportedStores, readSection, type Section, type Subject } from './read-workspace.ts'

type RecordOf<S extends Section> = Extract<ExportedRecord, { type: S }>
type ColumnsOf<S extends Section> = readonly (keyof RecordOf<S>)[]

/** The file of each type of record, with its columns in order. */
const FILES: { readonly [S in Section]: { file: string; columns: ColumnsOf<S> } } = {
  labels: { file: 'labels.csv', columns: ['parameter', 'labels'] },
  conversion_settings: {
    file: 'conversion_settings.csv',
    columns: ['track_conversions', 'parameter', 'window_days'],
  },
  utm_template: {
    file: 'utm_templates.csv',
    columns: ['id', 'name', ...UTM_FIELDS, 'managed_by', 'created_at', 'updated_at'],
  },
  rule_set: {
    file: 'rule_sets.csv',
    columns: ['id', 'name', 'rules', 'managed_by', 'created_at', 'updated_at'],
  },
  domain: {
    file: 'domains.csv',
    columns: [
      ...(['id', 'domain', 'status', 'not_found_url', 'expired_url'] as const),
      ...(['hsts_max_age', 'is_default', 'created_at', 'updated_at'] as const),
    ],
  },
  domain_settings: {
    file: 'domain_settings.csv',
    columns: [
      ...(['domain', 'root_url', 'robots', 'utm', 'rule_set', 'rule_set_name'] as const),
      ...(['apple_app_site_association', 'assetlinks', 'track_conversions'] as const),
      'managed_by' as const,
    ],
  },
  member: { file: 'members.csv', columns: ['email', 'name', 'role', 'joined_at'] },
  link: {
    file: 'links.csv',
    columns: [
      ...(['id', 'domain', 'key', 'url', ...TEXTS_BEFORE_COUNTERS] as const),
      ...([
        'clicks',
        'last_click',
        'external_id',
        'protected',
        'rules',
        'examples',
        'options',
        'rule_set_name',
        'imported',
      ] as const),
      ...TEXTS_AFTER_COUNTERS.filter((field) => field !== 'password'),
      ...(['tags', 'created_at', 'updated_at'] as const),
    ],
  },
  click_day: {
    file: 'click_days.csv',
    columns: ['link_id', 'day', 'clicks', 'bots', 'last_click'],
  },
  click: {
    file: 'clicks.csv',
    columns: [
      ...(['at', 'link_id', 'domain', 'key', 'country', 'device', 'os', 'browser'] as const),
      ...([
        'referrer',
        'language',
        'source',
        'visitor',
        'flags',
        'count',
        'rule',
        'variant',
        'label',
        'region',
        'city',
      ] as const),
    ],
  },
  conversion: {
    file: 'conversions.csv',
    columns: [
      ...(['id', 'link_id', 'event', 'value', 'currency', 'occurred_at', 'recorded_at'] as const),
      ...(['clicked_at', 'visit', 'country', 'rule', 'variant', 'label'] as const),
    ],
  },
}

/**
 * Writes an export as a zip of CSV files, and the head as `export.json`. It reads as fast as its client.
 * When reading fails, the stream fails: only a zip that ends regularly can be opened.
 *
 * @param on.onBatch called for each batch, including those that add no line
 */
export function csvZipExport(
  stores: ExportedStores,
  subject: Subject,
  on: {
    readonly head: ExportHead
    readonly sections: readonly Section[]
    readonly onBatch: () => void
  },
): Readable {
  const { head, sections, onBatch } = on
  const zip = new ZipFile()
  const options = { compress: true, mtime: new Date(head.exported_at) }
  const stream = zip.outputStream as Readable
  let current: Readable | undefined
  zip.on('error', (error: Error) => stream.destroy(error))
  // When the client leaves, nothing reads the file under way, and its generator would wait forever.
  stream.once('close', () => current?.destroy())
  zip.addBuffer(Buffer.from(`${JSON.stringify(head, null, 2)}\n`), 'export.json', options)
  for (const section of sections) {
    zip.addReadStreamLazy(FILES[section].file, options, (start) => {
      // The client has left; the database may be closed by now.
      if (stream.destroyed) return
      current = Readable.from(csvOf(stores, subject, section, onBatch), { objectMode: false })
      start(null, current)
    })
  }
  zip.end()
  return stream
}

async function* csvOf(
  stores: ExportedStores,
  subject: Subject,
  section: Section,
  onBatch: () => void,
): AsyncGenerator<string, void, void> {
  const columns: readonly string[] = FILES[section].columns
  yield csvLine(columns)
  for await (const { records } of readSection(stores, subject, section)) {
    onBatch()
    if (records.length === 0) continue
    yield records.map((record) => csvLine(cellsOf(record, columns))).join('')
  }
}

function cellsOf(record: Readonly<Record<string, unknown>>, columns: readonly string[]): string[] {
  return columns.map((column) => {
    const value = record[column]
    // Tags may contain any separator.
    return value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value ?? '')
  })
}
