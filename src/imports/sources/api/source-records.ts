import type { z } from 'zod'
import type {
  ClickCountRecord,
  ClickRecord,
  ImportRecord,
  LinkRecord,
  RefusedRecord,
} from '../../import-record.ts'
import { linkRecord as completeLink } from '../link-record.ts'
import { refusedRecord as completeRefused } from '../refused-record.ts'

type Unresumed<R> = R extends ImportRecord ? Omit<R, 'resume'> : never

/** A record before it is known from where the source is read again after it. */
export type SourceRecord = Unresumed<ImportRecord>

const SECRET = /password|token|secret/i
/** Fields whose values are in no report: secrets, and who created the link from which address. */
const HIDDEN = /password|token|secret|email|^ip$|^user$|^created_by$/i

type KnownOfLink = Pick<LinkRecord, 'ref' | 'place' | 'domain' | 'key' | 'url'> &
  Partial<LinkRecord>

export function linkRecord(known: KnownOfLink): Omit<LinkRecord, 'resume'> {
  const { resume: _, ...link } = completeLink({ ...known, resume: '' })
  return link
}

export function clickRecord(
  click: Omit<ClickRecord, 'kind' | 'resume'>,
): Omit<ClickRecord, 'resume'> {
  return { ...click, kind: 'click' }
}

export function countRecord(
  count: Omit<ClickCountRecord, 'kind' | 'resume'>,
): Omit<ClickCountRecord, 'resume'> {
  return { ...count, kind: 'count' }
}

export function refusedRecord(
  place: string,
  reason: string,
  item: unknown,
): Omit<RefusedRecord, 'resume'> {
  const row = JSON.stringify(item, (name, value) => (HIDDEN.test(name) && value ? '…' : value))
  const { resume: _, ...refused } = completeRefused({ resume: '', place, reason, row })
  return refused
}

/** Parses an item of a list, or returns the record that reports why it cannot be taken. */
export function parseItem<S extends z.ZodType>(
  schema: S,
  item: unknown,
  place: string,
): { item: z.infer<S> } | { refused: Omit<RefusedRecord, 'resume'> } {
  const parsed = schema.safeParse(item)
  if (parsed.success) return { item: parsed.data }
  const [issue] = parsed.error.issues
  const field = issue?.path.join('.') || 'link'
  const reason = `Its ${field} is missing, or not of the expected form.`
  return { refused: refusedRecord(place, reason, item) }
}

/** What is left of an item without some of its fields, and without those that hold nothing. */
export function restOf(
  item: Readonly<Record<string, unknown>>,
  taken: readonly string[],
): Record<string, unknown> {
  const left = Object.entries(item).filter(
    ([name, value]) => !taken.includes(name) && !SECRET.test(name) && holdsSomething(value),
  )
  return Object.fromEntries(left)
}

function holdsSomething(value: unknown): boolean {
  if (value === null || value === undefined || value === '' || value === false) return false
  return !(Array.isArray(value) && value.length === 0)
}

/** Returns undefined for a text without a slash. The key is decoded. */
export function splitShortLink(link: string): { domain: string; key: string } | undefined {
  const match = /^(?:https?:\/\/)?([^/?#]+)\/([^?#]*)$/i.exec(link)
  if (match === null) return undefined
  const [, domain = '', key = ''] = match
  return { domain: domain.toLowerCase(), key: decodeKey(key) }
}

/** A key that is no valid percent-encoding is taken as it is. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
