import { Readable } from 'node:stream'
import type { ExportClicksQuery, ExportedClick } from '@terse/contract/clicks'
import { formatInstant } from '../platform/time/instant.ts'
import { CLICK_FLAGS } from './click.ts'
import type { RawClick } from './report/day-of-clicks.ts'

type Format = NonNullable<ExportClicksQuery['format']>

export const EXPORT_TYPES: Readonly<Record<Format, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
}

/** The columns of the CSV form, in their order. */
const COLUMNS = [
  'at',
  'link_id',
  'domain',
  'key',
  'country',
  'device',
  'os',
  'browser',
  'referrer',
  'language',
  'source',
  'visitor',
  'flags',
  'count',
] as const satisfies readonly (keyof ExportedClick)[]

const FLAG_NAMES = [
  ['bot', CLICK_FLAGS.bot],
  ['prefetch', CLICK_FLAGS.prefetch],
  ['head', CLICK_FLAGS.head],
  ['no_user_agent', CLICK_FLAGS.noUserAgent],
  ['capped', CLICK_FLAGS.capped],
] as const

/** What a spreadsheet takes for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r]/
const NEEDS_QUOTES = /[",\r\n]/

/**
 * The text of an export, made from the batches as it is read. The first batch is read before it
 * returns, so that a refusal can still be answered as such.
 *
 * @param watch.onBatch called whenever a batch has come, as some bring no text
 * @param watch.onError told when the reading could not be ended in order
 */
export async function exportStream(
  batches: AsyncIterable<readonly RawClick[]>,
  format: Format,
  watch: { readonly onBatch: () => void; readonly onError: (error: unknown) => void },
): Promise<Readable> {
  const iterator = batches[Symbol.asyncIterator]()
  const first = await iterator.next()
  const write = format === 'csv' ? csvLine : ndjsonLine

  async function* text(): AsyncGenerator<string> {
    if (format === 'csv') yield `${COLUMNS.join(',')}\r\n`
    for (let batch = first; batch.done !== true; batch = await iterator.next()) {
      watch.onBatch()
      if (batch.value.length > 0) yield batch.value.map((click) => write(present(click))).join('')
    }
  }
  const stream = Readable.from(text(), { objectMode: false })
  // Not in a finally above, which a generator that never began does not come to.
  stream.once('close', () => {
    iterator.return?.().catch(watch.onError)
  })
  return stream
}

function present(click: RawClick): ExportedClick {
  const isCapped = (click.flags & CLICK_FLAGS.capped) !== 0
  return {
    at: formatInstant(click.at),
    link_id: click.link_id,
    domain: click.host,
    key: click.key,
    country: click.country || null,
    device: click.device || null,
    os: click.os || null,
    browser: click.browser || null,
    referrer: click.referrer || null,
    language: click.language || null,
    source: click.source || null,
    // A letter in front keeps spreadsheets from taking it for a number and rounding it.
    visitor: isCapped ? null : `v${click.visitor.toString(16).padStart(14, '0')}`,
    flags: FLAG_NAMES.filter(([, flag]) => (click.flags & flag) !== 0).map(([name]) => name),
    count: click.count,
  }
}

function ndjsonLine(click: ExportedClick): string {
  return `${JSON.stringify(click)}\n`
}

/** A line by RFC 4180; nothing for null. */
function csvLine(click: ExportedClick): string {
  const cells = COLUMNS.map((column) => {
    const value = click[column]
    return csvCell(Array.isArray(value) ? value.join(' ') : String(value ?? ''))
  })
  return `${cells.join(',')}\r\n`
}

/** An apostrophe keeps a spreadsheet from running what a visitor or a link's owner wrote. */
function csvCell(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text
  return NEEDS_QUOTES.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
