import type { ExportedRecord } from '@terse/contract/export'
import {
  type ClickReports,
  dayOf,
  presentWithoutId,
  type RawClick,
  startOfDay,
} from '../clicks/index.ts'
import {
  areConversionSettingsNew,
  type ConversionMark,
  type ConversionSettingsStore,
  type ConversionStore,
} from '../conversions/index.ts'
import type { DomainMark, DomainSettingsStore, DomainStore, HstsStore } from '../domains/index.ts'
import type { MembershipStore } from '../identity/index.ts'
import type { ImportRowStore } from '../imports/index.ts'
import {
  areLabelsNew,
  type LabelStore,
  type LinkStore,
  type RuleSetMark,
  type RuleSetStore,
  type UtmTemplateStore,
} from '../links/index.ts'
import { yieldToEventLoop } from '../platform/work/async.ts'
import {
  presentClickDay,
  presentConversionSettings,
  presentExportedConversion,
  presentExportedDomain,
  presentExportedLink,
  presentExportedSettings,
  presentLabels,
  presentMember,
  presentRuleSet,
  presentTemplate,
} from './present.ts'

/** The stores that an export reads. */
export type ExportedStores = {
  readonly labels: Pick<LabelStore, 'find'>
  readonly conversionSettings: Pick<ConversionSettingsStore, 'find'>
  readonly utmTemplates: UtmTemplateStore
  readonly ruleSets: Pick<RuleSetStore, 'run' | 'findById'>
  readonly domains: DomainStore
  readonly domainSettings: Pick<DomainSettingsStore, 'find'>
  readonly hsts: HstsStore
  readonly memberships: MembershipStore
  readonly links: LinkStore
  readonly importRows: Pick<ImportRowStore, 'findByLink'>
  readonly reports: ClickReports
  readonly conversions: Pick<ConversionStore, 'run'>
}

/** The types of records, in the order of an export: what others refer to comes before them. */
export const SECTIONS = [
  'labels',
  'conversion_settings',
  'utm_template',
  'rule_set',
  'domain',
  'domain_settings',
  'member',
  'link',
  'click_day',
  'click',
  'conversion',
] as const
export type Section = (typeof SECTIONS)[number]

/** Where in an export a reader is. `mark` is the section's own; undefined at its beginning. */
export type Position = { readonly section: Section; readonly mark?: unknown }

/** Some consecutive records, and where the next ones begin. Batches of single clicks may be empty. */
export type Batch = { readonly records: readonly ExportedRecord[]; readonly next: Position }

/** The workspace whose records are read, and which of its clicks. */
export type Subject = {
  readonly workspaceId: string
  readonly untilMicros: number
  /** The first day of single clicks; clicks of earlier days are added up by day. */
  readonly singlesFromDay: number
  /** The names of rule sets as they were read first, by id, so that the records of one export agree. */
  readonly ruleSetNames: Map<string, string | null>
}

/** Links, and in which run of days the next batch is. */
type DaysMark = { readonly beyond: number | undefined; readonly run: number }

/** In the day of a click, and how many clicks of this day were read. */
type ClickMark = { readonly day: number; readonly seen: number }

const DOMAINS_PER_BATCH = 100
const TEMPLATES_PER_BATCH = 100
/** Each may have 64 KiB. */
const RULE_SETS_PER_BATCH = 10
/** Each may have 256 KiB. */
const SETTINGS_PER_BATCH = 10
/** Read on the main thread of a SQLite instance: a few milliseconds. */
const LINKS_PER_BATCH = 200
/** Each day of each link is looked up: 5,000 take some milliseconds. */
const LINKS_PER_DAYS_BATCH = 50
const DAYS_PER_BATCH = 100
const CONVERSIONS_PER_BATCH = 1_000

type ReadSection = (
  stores: ExportedStores,
  subject: Subject,
  mark: unknown,
) => AsyncGenerator<Batch, void, void>

const READERS: Readonly<Record<Section, ReadSection>> = {
  labels: readLabels,
  conversion_settings: readConversionSettings,
  utm_template: readTemplates,
  rule_set: readRuleSets,
  domain: readDomains,
  domain_settings: readDomainSettings,
  member: readMembers,
  link: readLinks,
  click_day: readClickDays,
  click: readClicks,
  conversion: readConversions,
}

/**
 * Reads the records of one type in their fixed order, one batch at a time, so that memory does not grow with
 * the workspace. It is no snapshot: what changes while it is read is in the state of that moment.
 *
 * @param mark of the position from which to go on
 */
export function readSection(
  stores: ExportedStores,
  subject: Subject,
  section: Section,
  mark?: unknown,
): AsyncGenerator<Batch, void, void> {
  return READERS[section](stores, subject, mark)
}

async function* readLabels(
  { labels }: ExportedStores,
  { workspaceId }: Subject,
): AsyncGenerator<Batch, void, void> {
  const settings = await labels.find(workspaceId)
  const records = areLabelsNew(settings) ? [] : [presentLabels(settings)]
  yield { records, next: { section: 'labels' } }
}

async function* readConversionSettings(
  { conversionSettings }: ExportedStores,
  { workspaceId }: Subject,
): AsyncGenerator<Batch, void, void> {
  const settings = await conversionSettings.find(workspaceId)
  const records = areConversionSettingsNew(settings) ? [] : [presentConversionSettings(settings)]
  yield { records, next: { section: 'conversion_settings' } }
}

/** The newest first. */
async function* readConversions(
  { conversions }: ExportedStores,
  { workspaceId, untilMicros }: Subject,
  mark: unknown,
): AsyncGenerator<Batch, void, void> {
  let beyond = mark as ConversionMark | undefined
  const filter = { workspaceId, fromMicros: 0, toMicros: untilMicros, values: {} }
  do {
    const { items, rest } = await conversions.run(filter, CONVERSIONS_PER_BATCH, beyond)
    beyond = rest
    const records = items.map(presentExportedConversion)
    yield { records, next: { section: 'conversion', mark: rest } }
  } while (beyond !== undefined)
}

async function* readRuleSets(
  { ruleSets }: ExportedStores,
  { workspaceId, ruleSetNames }: Subject,
  mark: unknown,
): AsyncGenerator<Batch, void, void> {
  let beyond = mark as RuleSetMark | undefined
  do {
    const run = { workspaceId, limit: RULE_SETS_PER_BATCH, descending: false, beyond }
    const { items, rest } = await ruleSets.run(run)
    beyond = rest
    for (const { id, name } of items) ruleSetNames.set(id, name)
    yield { records: items.map(presentRuleSet), next: { section: 'rule_set', mark: rest } }
  } while (beyond !== undefined)
}

/** Returns a function that finds the name of a rule set, and reads each set once. */
function ruleSetNamer({ ruleSets }: ExportedStores, { workspaceId, ruleSetNames: names }: Subject) {
  return async (id: string | null): Promise<string | null> => {
    if (id === null) return null
    const known = names.get(id)
    if (known !== undefined) return known
    const name = (await ruleSets.findById(workspaceId, id))?.name ?? null
    names.set(id, name)
    return name
  }
}

async function* readTemplates(
  { utmTemplates }: ExportedStores,
  { workspaceId }: Subject,
): AsyncGenerator<Batch, void, void> {
  for (let offset = 0; ; offset += TEMPLATES_PER_BATCH) {
    const { items } = await utmTemplates.page(workspaceId, offset, TEMPLATES_PER_BATCH)
    // There are a few hundred at most: a client that was cut off reads all of them again.
    yield { records: items.map(presentTemplate), next: { section: 'utm_template' } }
    if (items.length < TEMPLATES_PER_BATCH) return
  }
}

async function* readDomains(
  { domains, hsts }: ExportedStores,
  { workspaceId }: Subject,
  mark: unknown,
): AsyncGenerator<Batch, void, void> {
  let beyond = mark as DomainMark | undefined
  do {
    const run = { workspaceId, limit: DOMAINS_PER_BATCH, descending: false, beyond }
    const { items, rest } = await domains.run(run)
    const defaultId = (await domains.findDefault(workspaceId))?.id
    const records = []
    for (const domain of items) {
      const hstsMaxAge = await hsts.find(domain.id)
      const isDefault = domain.id === defaultId
      records.push(presentExportedDomain(domain, { hstsMaxAge, isDefault }))
    }
    beyond = rest
    yield { records, next: { section: 'domain', mark: rest } }
  } while (beyond !== undefined)
}

async function* readDomainSettings(
  stores: ExportedStores,
  subject: Subject,
  mark: unknown,
): AsyncGenerator<Batch, void, void> {
  const { domains, domainSettings } = stores
  const nameOf = ruleSetNamer(stores, subject)
  let beyond = mark as DomainMark | undefined
  do {
    const { workspaceId } = subject
    const run = { workspaceId, limit: SETTINGS_PER_BATCH, descending: false, beyond }
    const { items, rest } = await domains.run(run)
    const records = []
    for (const domain of items) {
      const settings = await domainSettings.find(domain.id)
      if (settings === undefined) continue
      records.push(presentExportedSettings(domain, settings, await nameOf(settings.rule_set)))
    }
    beyond = rest
    yield { records, next: { section: 'domain_settings', mark: rest } }
  } while (beyond !== undefined)
}

async function* readMembers(
  { memberships }: ExportedStores,
  { workspaceId }: Subject,
): AsyncGenerator<Batch, void, void> {
  const members = await memberships.listOfWorkspace(workspaceId)
  const sorted = members.toSorted((a, b) =>
    a.person.email_folded < b.person.email_folded ? -1 : 1,
  )
  yield { records: sorted.map(presentMember), next: { section: 'member' } }
}

async function* readLinks(
  stores: ExportedStores,
  subject: Subject,
  mark: unknown,
): AsyncGenerator<Batch, void, void> {
  const { links, importRows } = stores
  const { workspaceId } = subject
  const nameOf = ruleSetNamer(stores, subject)
  let beyond = mark as number | undefined
  do {
    const run = { workspaceId, limit: LINKS_PER_BATCH, descending: false, beyond }
    const { items, rest } = await links.run(run)
    beyond = rest
    const seqs = items.map(({ seq }) => seq)
    const origins = await importRows.findByLink(workspaceId, seqs)
    const rests = new Map(origins.map((origin) => [origin.link_seq, origin.rest]))
    const records = []
    for (const link of items) {
      const rest = rests.get(link.seq) ?? null
      const ruleSetName = await nameOf(link.rule_set)
      records.push(presentExportedLink(link, { rest, ruleSetName }))
    }
    yield { records, next: { section: 'link', mark: rest } }
    await yieldToEventLoop()
  } while (beyond !== undefined)
}

/**
 * Reads the clicks of the days before single clicks, for some links and some days at a time.
 * Positions are between them.
 */
async function* readClickDays(
  { links, reports }: ExportedStores,
  { workspaceId, untilMicros, singlesFromDay }: Subject,
  mark: unknown,
): AsyncGenerator<Batch, void, void> {
  const lastDay = Math.min(dayOf(untilMicros), singlesFromDay - 1)
  const days = await reports.daysWithClicks({ kind: 'workspace', workspaceId }, 0, lastDay)
  const runs = Array.from({ length: Math.ceil(days.length / DAYS_PER_BATCH) }, (_, nth) =>
    days.slice(nth * DAYS_PER_BATCH, (nth + 1) * DAYS_PER_BATCH),
  )
  if (runs.length === 0) return
  let { beyond, run } = (mark as DaysMark | undefined) ?? { beyond: undefined, run: 0 }
  for (;;) {
    const read = { workspaceId, limit: LINKS_PER_DAYS_BATCH, descending: false, beyond }
    const { items, rest } = await links.run(read)
    for (; run < runs.length; run += 1) {
      const found = await reports.readDaysOfLinks(
        items.map(({ seq }) => seq),
        { days: runs[run] ?? [], slots: false },
      )
      const records = items.flatMap((link) =>
        (found.get(link.seq) ?? []).map((day) => presentClickDay(link, day)),
      )
      yield {
        records,
        next: { section: 'click_day', mark: { beyond, run: run + 1 } satisfies DaysMark },
      }
      await yieldToEventLoop()
    }
    if (rest === undefined) return
    beyond = rest
    run = 0
  }
}

/** Leaves out clicks on links that were deleted. */
async function* readClicks(
  { reports }: ExportedStores,
  { workspaceId, untilMicros, singlesFromDay }: Subject,
  mark: unknown,
): AsyncGenerator<Batch, void, void> {
  const from = (mark as ClickMark | undefined) ?? { day: 0, seen: 0 }
  let { day, seen } = { day: from.day, seen: 0 }
  const scope = { kind: 'workspace', workspaceId } as const
  for await (const batch of reports.rawClicks(
    scope,
    startOfDay(Math.max(from.day, singlesFromDay)),
    untilMicros,
  )) {
    const [first] = batch
    // All clicks of a batch are of one day.
    if (first !== undefined && dayOf(first.at) !== day) {
      day = dayOf(first.at)
      seen = 0
    }
    const done = day === from.day ? Math.max(0, from.seen - seen) : 0
    seen += batch.length
    const records = batch.slice(done).flatMap(presentClickOfLink)
    yield { records, next: { section: 'click', mark: { day, seen } satisfies ClickMark } }
  }
}

function presentClickOfLink(click: RawClick): readonly ExportedRecord[] {
  const { link_id, ...fields } = presentWithoutId(click)
  return link_id === null ? [] : [{ type: 'click', link_id, ...fields }]
}
