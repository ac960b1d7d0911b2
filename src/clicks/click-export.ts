import type { Readable } from 'node:stream'
import type { ExportClicksQuery, ExportedClick, LiveClick } from '@terse/contract/clicks'
import { csvLine } from '@terse/contract/csv'
import { lineStream, type StreamWatch } from '../platform/http/api/line-stream.ts'
import { formatInstant } from '../platform/time/clock.ts'
import { CLICK_FLAGS, UNKNOWN_VISITOR } from './click.ts'
import { clickId } from './click-id.ts'
import type { RawClick } from './report/day-of-clicks.ts'

type Format = NonNullable<ExportClicksQuery['format']>

export const EXPORT_TYPES: Readonly<Record<Format, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
}

/** The CSV columns in order. */
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
  'rule',
  'variant',
  'label',
  'region',
  'city',
  'id',
] as const satisfies readonly (keyof ExportedClick)[]

const FLAG_NAMES = [
  ['bot', CLICK_FLAGS.bot],
  ['prefetch', CLICK_FLAGS.prefetch],
  ['head', CLICK_FLAGS.head],
  ['no_user_agent', CLICK_FLAGS.noUserAgent],
  ['capped', CLICK_FLAGS.capped],
] as const

/** Streams an export: see `lineStream`. */
export function exportStream(
  batches: AsyncIterable<readonly RawClick[]>,
  format: Format,
  watch: StreamWatch,
): Promise<Readable> {
  const write = format === 'csv' ? csvLineOf : ndjsonLine
  const header = format === 'csv' ? csvLine(COLUMNS) : ''
  return lineStream(batches, { header, lineOf: (click) => write(presentClick(click)) }, watch)
}

function presentClick(click: RawClick): ExportedClick {
  return { ...presentWithoutId(click), id: clickId(click) }
}

/** As `presentClick`, for clients that follow clicks as they are counted. */
export function presentLive(click: RawClick): LiveClick {
  const { visitor: _, ...shown } = presentClick(click)
  return shown
}

/** As `presentClick`, without the id, which takes most of its time. */
export function presentWithoutId(click: RawClick): Omit<ExportedClick, 'id'> {
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
    // The letter keeps spreadsheets from parsing it as a number and rounding it.
    visitor:
      click.visitor === UNKNOWN_VISITOR ? null : `v${click.visitor.toString(16).padStart(14, '0')}`,
    flags: flagNames(click.flags),
    count: click.count,
    rule: click.rule || null,
    variant: click.variant || null,
    label: click.label || null,
    region: click.region || null,
    city: click.city || null,
  }
}

/** Returns the names of a sum of `CLICK_FLAGS`. */
export function flagNames(flags: number): ExportedClick['flags'] {
  return FLAG_NAMES.filter(([, flag]) => (flags & flag) !== 0).map(([name]) => name)
}

/** Returns the `flags` of a click from those that an export names. */
export function flagsOf(names: ExportedClick['flags']): number {
  return FLAG_NAMES.reduce((sum, [name, flag]) => (names.includes(name) ? sum + flag : sum), 0)
}

function ndjsonLine(click: ExportedClick): string {
  return `${JSON.stringify(click)}\n`
}

function csvLineOf(click: ExportedClick): string {
  return csvLine(
    COLUMNS.map((column) => {
      const value = click[column]
      return Array.isArray(value) ? value.join(' ') : String(value ?? '')
    }),
  )
}
