import { createHash } from 'node:crypto'
import { fromFields } from '@terse/contract/link-fields'
import { type LinkRecord, RECORD_TEXTS, type RefusedRecord } from '../import-source.ts'

/** What a link always has; all else is missing unless a source says otherwise. */
type Known = Pick<LinkRecord, 'resume' | 'ref' | 'place' | 'key' | 'url'>

/** The optional values of a link of which a source has none. */
export const NO_VALUES = {
  ...fromFields(RECORD_TEXTS, () => null),
  domain: null,
  external_id: null,
  tags: [],
  rules: [],
  examples: [],
  options: {},
  expires_at: null,
  protection: { kind: 'none' },
  closed: null,
  created_at: null,
  clicks: null,
  last_click: null,
  rest: {},
  notes: [],
} as const satisfies Partial<LinkRecord>

/** Returns the record of a link; fields that are not given are those of a link without them. */
export function linkRecord(known: Known & Partial<LinkRecord>): LinkRecord {
  return { kind: 'link', ...NO_VALUES, ...known }
}

/** Returns the entries that have a value: neither null, nor empty, nor missing. */
export function presentValues(
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([, value]) => value !== null && value !== undefined && value !== '',
    ),
  )
}

/**
 * Returns the option for a limit of visits, as options of a link have it. Terse counts from the first click of the link
 * on, and those that the import takes over with their total or as single clicks count too: so a limit stays the number
 * that it is at the source.
 */
export function clickLimit(max: unknown): { readonly max_clicks?: number } {
  return typeof max === 'number' && max > 0 ? { max_clicks: max } : {}
}

const REF_LENGTH_MAX = 500

/** Returns a text as a `ref`: itself, or its hash when it is too long. */
export function refOf(text: string): string {
  if (text.length <= REF_LENGTH_MAX) return text
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

const ROW_LENGTH_MAX = 2_000

/** Returns the record of a row that cannot be taken. A row that is no text is shown as JSON. */
export function refusedRecord(refusal: {
  readonly resume: string
  readonly place: string
  /** Why, as a sentence. */
  readonly reason: string
  readonly row: unknown
}): RefusedRecord {
  const { resume, place, reason, row } = refusal
  const text = typeof row === 'string' ? row : JSON.stringify(row)
  return { kind: 'refused', resume, place, reason, row: text.slice(0, ROW_LENGTH_MAX) }
}

/** A row has a value that cannot be taken. The message is a sentence for the report. */
export class RefusedRow extends Error {
  override readonly name = 'RefusedRow'
}
