import { faultText } from '@terse/contract/faults'
import { fromFields, LINK_OPTION_FIELDS } from '@terse/contract/link-fields'
import type { RuleInput } from '@terse/contract/rules'
import { parseHost } from '../hosts/index.ts'
import type { LinkInput } from '../links/index.ts'
import type { FieldFaults } from '../platform/failure.ts'
import { canonicalInstant, formatInstant } from '../platform/time/clock.ts'
import { ImportFault, type ImportOptions } from './import.ts'
import { type LinkRecord, RECORD_TEXTS } from './import-source.ts'
import { shown } from './targeting/targeting.ts'

/** A link of a source as it would be created, before it is known whether its key is free. */
export type Candidate = {
  readonly record: LinkRecord
  readonly host: string
  readonly input: LinkInput & { readonly domain: string; readonly key: string }
  /** Microseconds since the epoch; undefined where the source has no usable date. */
  readonly createdAt: number | undefined
  /** Whether it gets a random password, which is shown nowhere. */
  readonly isLocked: boolean
  readonly isClosed: boolean
  readonly rest: Readonly<Record<string, unknown>>
  readonly notes: readonly string[]
  /** Why it gets a random password, for the report of a link that does. */
  readonly lockNotes: readonly string[]
}

type Refusal = { readonly record: LinkRecord; readonly reason: string }

/** A link without one of these is still the same link; what could not be taken is kept beside it. */
const OPTIONAL = [...RECORD_TEXTS, ...LINK_OPTION_FIELDS, 'external_id'] as const

const LABELS: Readonly<Record<string, string>> = {
  domain: 'The domain',
  key: 'The key',
  url: 'The destination',
  expires_at: 'The expiry date',
}

const REF_LENGTH_MAX = 500

/**
 * Turns a record into what Terse would create, without making it more open than it is at the source.
 *
 * @param rules.faultsOf returns which fields of an input Terse refuses
 * @throws {ImportFault} when the record's domain must be mapped first
 */
export function candidateOf(
  record: LinkRecord,
  rules: {
    readonly hostOf: (domain: string | null) => string
    readonly faultsOf: (input: LinkInput) => FieldFaults
    readonly nowMicros: number
  },
): Candidate | Refusal {
  const host = rules.hostOf(record.domain)
  if (!isUsable(record.ref)) {
    return { record, reason: 'The source does not say which link this is.' }
  }
  if (record.key === '') {
    return {
      record,
      reason:
        'This is the link at the root of its domain, which cannot be a link in Terse: set the address for unknown links of the domain instead.',
    }
  }
  const notes = [...record.notes]
  const rest: Record<string, unknown> = { ...record.rest }
  const createdAt = creationOf(record, rules.nowMicros, notes)
  const lockNotes: string[] = []
  const aside = { notes, lockNotes, rest }
  const { input, isLocked } = inputOf(
    record,
    host,
    { createdAt, nowMicros: rules.nowMicros },
    aside,
  )
  const kept = withoutFaults(input, rules.faultsOf, aside)
  if ('reason' in kept) return { record, reason: kept.reason }
  const isClosed = record.closed !== null
  return {
    record,
    host,
    input: kept.input,
    createdAt,
    isLocked: isLocked || kept.isLocked,
    isClosed,
    rest,
    notes,
    lockNotes,
  }
}

type Times = { readonly createdAt: number | undefined; readonly nowMicros: number }

/** Databases compare it byte by byte, and PostgreSQL stores no NUL. */
function isUsable(ref: string): boolean {
  return ref !== '' && ref.length <= REF_LENGTH_MAX && ref.isWellFormed() && !ref.includes('\0')
}

/** What is added to the report and kept beside the link. */
type Aside = {
  readonly notes: string[]
  readonly lockNotes: string[]
  readonly rest: Record<string, unknown>
}

function inputOf(
  record: LinkRecord,
  host: string,
  times: Times,
  { notes, lockNotes, rest }: Aside,
): { input: Candidate['input']; isLocked: boolean } {
  const { protection, closed } = record
  const texts = fromFields(RECORD_TEXTS, (field) => record[field])
  const isLocked = protection.kind === 'unknown password'
  if (isLocked) {
    lockNotes.push(
      'The source does not give out the password: the link has a random one that nobody knows. Set a new one.',
    )
  }
  if (closed !== null) {
    notes.push(closed)
    if (record.expired_redirect_url !== null && !hasExpired(record, times)) {
      // It did not lead there while it was closed.
      texts.expired_redirect_url = null
      rest.expired_redirect_url = record.expired_redirect_url
    }
  }
  const input = {
    domain: host,
    key: record.key,
    url: record.url,
    ...texts,
    external_id: record.external_id,
    tags: [...new Set(record.tags)],
    // As for tags: what the source does not have stays as it is in an update.
    rules: record.rules.length === 0 ? null : record.rules,
    examples: record.examples.length === 0 ? null : record.examples,
    ...record.options,
    expires_at: expiryOf(record, times, notes),
    password: protection.kind === 'password' ? protection.password : null,
  }
  return { input, isLocked }
}

/** Returns the input without the optional fields that Terse refuses, or why the link is refused. */
function withoutFaults(
  input: Candidate['input'],
  faultsOf: (input: LinkInput) => FieldFaults,
  aside: Aside,
):
  | { readonly input: Candidate['input']; readonly isLocked: boolean }
  | { readonly reason: string } {
  let kept = input
  let isLocked = false
  const reasons: string[] = []
  for (const [path, [fault]] of Object.entries(faultsOf(input))) {
    const text = faultText(fault ?? { code: 'invalid' })
    const [field = path] = path.split('.', 1)
    if (field === 'password') {
      isLocked = true
      kept = { ...kept, password: null }
      aside.lockNotes.push(
        `The password ${text}: the link has a random one that nobody knows. Set a new one.`,
      )
    } else if (field === 'tags') {
      kept = { ...kept, tags: usableTags(kept.tags ?? [], faultsOf) }
      aside.rest.tags = input.tags
      aside.notes.push(`Not all tags were taken: one ${text}.`)
    } else if (field === 'rules') {
      if (kept.rules !== input.rules) continue
      const usable = usableRules(input, faultsOf)
      kept = { ...kept, rules: usable.rules }
      aside.rest.rules = usable.left
      aside.notes.push(...usable.notes)
    } else if (field === 'examples') {
      kept = { ...kept, examples: null }
      aside.rest.examples = input.examples
      aside.notes.push(`The examples were left out: ${path} ${text}.`)
    } else if (isOptional(field)) {
      aside.rest[field] = input[field]
      kept = { ...kept, [field]: null }
      aside.notes.push(`${field} ${text}: it was left out.`)
    } else {
      reasons.push(`${LABELS[field] ?? field} ${text}.`)
    }
  }
  return reasons.length > 0 ? { reason: reasons.join(' ') } : { input: kept, isLocked }
}

function isOptional(field: string): field is (typeof OPTIONAL)[number] {
  return (OPTIONAL as readonly string[]).includes(field)
}

type UsableRules = {
  readonly rules: readonly RuleInput[] | null
  readonly left: readonly RuleInput[]
  /** Why, as a sentence on each rule in `left`, or one on all. */
  readonly notes: readonly string[]
}

/** Returns the rules without those that Terse refuses; none where their number or size is at fault. */
export function usableRules(
  input: LinkInput,
  faultsOf: (input: LinkInput) => FieldFaults,
): UsableRules {
  let rules = input.rules ?? []
  const left: RuleInput[] = []
  const notes: string[] = []
  // A fault in the form of one rule hides what else is wrong with the others.
  for (;;) {
    const faults = faultsOfRules(faultsOf({ ...input, rules }))
    if (faults.size === 0) break
    const ofAll = faults.get(undefined)
    if (ofAll !== undefined) {
      left.push(...rules)
      notes.push(`The rules were left out: ${ofAll}.`)
      rules = []
      break
    }
    for (const [index, rule] of rules.entries()) {
      const why = faults.get(index)
      if (why === undefined) continue
      left.push(rule)
      const to = shown(rule.then.url ?? rule.then.split?.map(({ url }) => url))
      notes.push(`The rule to ${to} was left out: ${why}.`)
    }
    rules = rules.filter((_, index) => !faults.has(index))
  }
  return { rules: rules.length === 0 ? null : rules, left, notes }
}

/** Returns what is wrong with each rule, by its index; `undefined` is the index of all rules together. */
function faultsOfRules(faults: FieldFaults): ReadonlyMap<number | undefined, string> {
  const texts = new Map<number | undefined, string>()
  for (const [path, [fault]] of Object.entries(faults)) {
    const [field, index, ...within] = path.split('.')
    if (field !== 'rules') continue
    const name = index === undefined ? field : within.join('.')
    texts.set(
      index === undefined ? undefined : Number(index),
      `${name} ${faultText(fault ?? { code: 'invalid' })}`.trim(),
    )
  }
  return texts
}

const TAGS_MAX = 50

function usableTags(
  tags: readonly string[],
  faultsOf: (input: LinkInput) => FieldFaults,
): readonly string[] {
  const isUsable = (tag: string) =>
    Object.keys(faultsOf({ tags: [tag] })).every((path) => !path.startsWith('tags'))
  return tags.filter(isUsable).slice(0, TAGS_MAX)
}

function creationOf(
  { created_at }: LinkRecord,
  nowMicros: number,
  notes: string[],
): number | undefined {
  if (created_at === null) return undefined
  if (created_at >= 0 && created_at <= nowMicros) return Math.floor(created_at)
  notes.push('Its date of creation is not in the past: it has the date of the import.')
  return undefined
}

function hasExpired({ expires_at }: LinkRecord, { nowMicros }: Times): boolean {
  if (expires_at === null) return false
  if (typeof expires_at === 'number') return expires_at <= nowMicros
  return (canonicalInstant(expires_at) ?? '') <= formatInstant(nowMicros)
}

/** 9999-12-31T23:59:59Z, in milliseconds. */
const EXPIRY_MS_MAX = 253_402_300_799_000

/** A closed link expires when it was created, so that it has been closed at every moment since. */
function expiryOf(record: LinkRecord, times: Times, notes: string[]): string | null {
  const { expires_at, closed } = record
  if (closed !== null && !hasExpired(record, times)) {
    return formatInstant(times.createdAt ?? times.nowMicros)
  }
  if (expires_at === null || typeof expires_at === 'string') return expires_at
  if (!(expires_at <= EXPIRY_MS_MAX * 1_000)) {
    notes.push('It expires after the year 9999: it never does in Terse.')
    return null
  }
  return Number.isSafeInteger(expires_at) && expires_at >= 0
    ? formatInstant(expires_at)
    : // Beyond the year 2255 a number holds milliseconds, but not microseconds.
      new Date(Math.max(0, Math.floor(expires_at / 1_000))).toISOString()
}

/** Hosts that a service shares among its customers: no workspace can prove that it owns one. */
const SHARED_HOSTS: ReadonlyMap<string, string> = new Map([
  ['bit.ly', 'Bitly'],
  ['bitly.com', 'Bitly'],
  ['j.mp', 'Bitly'],
  ['dub.sh', 'Dub'],
  ['dub.link', 'Dub'],
  ['rebrand.ly', 'Rebrandly'],
  ['short.gy', 'Short.io'],
  ['shorturl.at', 'Short.io'],
  ['tinyurl.com', 'TinyURL'],
])

/**
 * Decides on which host of Terse a link of a source goes.
 *
 * @param options.domains maps the source's domains, '' being its own; unmapped names stay as they are
 * @param fallback the host for links without a domain where '' is not mapped; undefined when it must be
 */
export function importDomains(
  { domains }: Pick<ImportOptions, 'domains'>,
  fallback: string | undefined,
): (domain: string | null) => string {
  const mapped = new Map(Object.entries(domains).map(([from, to]) => [nameOf(from), to]))
  return (domain) => {
    const name = nameOf(domain ?? '')
    const to = mapped.get(name)
    if (to !== undefined) return to
    if (name === '') {
      if (fallback !== undefined) return fallback
      throw new ImportFault(
        'The source does not name the domain of its links, and the workspace has several. Say which to use: --domain =HOST, or {"domains": {"": "HOST"}}.',
      )
    }
    const service = SHARED_HOSTS.get(name)
    if (service !== undefined) {
      throw new ImportFault(
        `${name} belongs to ${service}. Say which of your domains replaces it: --domain ${name}=HOST, or {"domains": {"${name}": "HOST"}}.`,
      )
    }
    return name
  }
}

/** The stored form of a host where it has one, so that every spelling of it is mapped. */
function nameOf(domain: string): string {
  const text = domain.trim().toLowerCase()
  const parsed = parseHost(text)
  return 'value' in parsed ? parsed.value : text
}
