import type { DatabaseSync } from 'node:sqlite'
import type {
  ClickCountRecord,
  ImportRecord,
  ImportSource,
  LinkRecord,
  RefusedRecord,
} from '../import-source.ts'
import type { FileSettings } from '../source-kinds.ts'
import {
  countOf,
  type DumpService,
  type DumpTable,
  type NamedRow,
  openDumpSource,
  readDumpRows,
  textOf,
} from './dump-source.ts'
import { linkRecord, RefusedRow, refOf, refusedRecord } from './link-record.ts'
import { peerOptions } from './peer-options.ts'
import { findLocalInstant, getLocalInstant } from './source-dates.ts'
import {
  guardSqlite,
  isUnreadable,
  openSourceDatabase,
  readSourceRows,
  type UnreadableRow,
} from './sqlite-source.ts'

/** A date as Kutt's database has it: text in UTC without a zone, or milliseconds. */
type KuttDate = string | number | null

/** A row of `links`, with the address of its domain. */
export type KuttLinkRow = {
  readonly id: number
  readonly address: string | null
  /** Null for the site's own domain. */
  readonly domain: string | null
  readonly description: string | null
  readonly banned: number | boolean
  /** Whether it has a password. Its hash is not read, so that it is in no report. */
  readonly is_protected: number | boolean
  readonly expire_in: KuttDate
  readonly target: string | null
  readonly visit_count: number
  readonly created_at: KuttDate
  /** The latest of its visits. */
  readonly last_visit: KuttDate
}

/** A row of `visits`: the visits of one link in one hour. */
export type KuttVisitRow = {
  readonly id: number
  readonly link_id: number | null
  /** The key of the click's link; null when there is none. */
  readonly address: string | null
  readonly total: number
  /** The instant of the first of these clicks. */
  readonly created_at: KuttDate
  /** When the last of them was counted. */
  readonly updated_at: KuttDate
}

/** Reads Kutt's tables in pages, in the order of their ids. */
export type KuttReader = {
  countLinks(): Promise<number>
  readLinks(page: KuttPage): Promise<readonly (KuttLinkRow | UnreadableRow)[]>
  readVisits(page: KuttPage): Promise<readonly (KuttVisitRow | UnreadableRow)[]>
  close(): Promise<void>
}

type KuttPage = { readonly afterId: number; readonly limit: number }

/** What is read. */
export const KUTT_TABLES = [
  {
    name: 'links',
    columns: [
      ...['id', 'address', 'description', 'banned', 'domain_id', 'password', 'expire_in', 'target'],
      ...['visit_count', 'created_at'],
    ],
  },
  { name: 'visits', columns: ['id', 'link_id', 'total', 'created_at', 'updated_at'] },
  { name: 'domains', columns: ['id', 'address'] },
] as const

const PAGE_ROWS = 500
const MICROS_PER_HOUR = 3_600_000_000

/**
 * Makes a source of Kutt's database. Of several links with one address and domain Kutt serves that with the lowest
 * id, which comes first here.
 *
 * @param begin opens the database, or begins a consistent view of it
 */
export function kuttSource(name: string, begin: () => Promise<KuttReader>): ImportSource {
  const open = new Set<KuttReader>()
  const withReader = async () => {
    const reader = await begin()
    open.add(reader)
    return reader
  }
  const release = async (reader: KuttReader) => {
    open.delete(reader)
    await reader.close()
  }
  return {
    name,
    async countLinks() {
      const reader = await withReader()
      try {
        return await reader.countLinks()
      } finally {
        await release(reader)
      }
    },
    async *read({ resume, signal }) {
      const reader = await withReader()
      try {
        yield* readTables(reader, parseResume(resume), signal)
      } finally {
        await release(reader)
      }
    },
    async close() {
      await Promise.all([...open].map(release))
    },
  }
}

type Position = { readonly table: 'links' | 'visits'; readonly afterId: number }

function parseResume(resume: string | undefined): Position {
  const parts = /^(links|visits):(-?\d+)$/.exec(resume ?? '')
  if (parts === null) return { table: 'links', afterId: Number.MIN_SAFE_INTEGER }
  return { table: parts[1] as Position['table'], afterId: Number(parts[2]) }
}

async function* readTables(
  reader: KuttReader,
  from: Position,
  signal: AbortSignal,
): AsyncGenerator<ImportRecord, void, void> {
  let visitsAfter = from.afterId
  if (from.table === 'links') {
    const links = readPages((page) => reader.readLinks(page), from.afterId, signal)
    for await (const row of links) yield orRefused(row, 'links', toKuttLink)
    visitsAfter = Number.MIN_SAFE_INTEGER
  }
  // A row without visits says nothing.
  for await (const row of readPages((page) => reader.readVisits(page), visitsAfter, signal))
    if (isUnreadable(row) || row.total !== 0) yield orRefused(row, 'visits', toKuttCount)
}

async function* readPages<Row extends { readonly id: number }>(
  readPage: (page: KuttPage) => Promise<readonly Row[]>,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<Row, void, void> {
  let afterId = from
  for (;;) {
    signal.throwIfAborted()
    const rows = await readPage({ afterId, limit: PAGE_ROWS })
    yield* rows
    const last = rows.at(-1)
    if (last === undefined) return
    afterId = last.id
  }
}

function orRefused<Row extends { readonly id: number }, T extends ImportRecord>(
  row: Row | UnreadableRow,
  table: Position['table'],
  convert: (row: Row, resume: string) => T,
): T | RefusedRecord {
  const resume = `${table}:${row.id}`
  try {
    if (isUnreadable(row)) throw new RefusedRow(row.unreadable)
    return convert(row, resume)
  } catch (error) {
    if (!(error instanceof RefusedRow)) throw error
    return refusedRecord({ resume, place: placeOf(table, row.id), reason: error.message, row })
  }
}

const placeOf = (table: string, id: number) => `${table}, id ${id}`

/** Another Kutt's database may have another link with the same id. */
function kuttRef(id: number, address: string | null): string {
  return refOf(`${id} ${address}`)
}

export function toKuttLink(
  row: KuttLinkRow,
  resume: string,
  place = placeOf('links', row.id),
): LinkRecord {
  return linkRecord({
    resume,
    ref: kuttRef(row.id, row.address),
    place,
    domain: row.domain,
    key: getText(row.address, 'address'),
    url: getText(row.target, 'target'),
    expires_at: toInstant(row.expire_in, 'expire_in'),
    protection: row.is_protected ? { kind: 'unknown password' } : { kind: 'none' },
    closed: row.banned ? 'Banned by an administrator of Kutt.' : null,
    created_at: toInstant(row.created_at, 'created_at'),
    clicks: getCount(row.visit_count, 'visit_count'),
    last_click: toInstant(row.last_visit, 'the date of a visit'),
    options: peerOptions('kutt', row, row.target ?? '').options,
  })
}

export function toKuttCount(row: KuttVisitRow, resume: string): ClickCountRecord {
  if (row.link_id === null) throw new RefusedRow('It belongs to no link.')
  const at = toInstant(row.created_at, 'created_at')
  if (at === null) throw new RefusedRow('created_at is missing.')
  return {
    kind: 'count',
    resume,
    ref: kuttRef(row.link_id, row.address),
    at: lastOfHour(at, row.updated_at),
    interval: 'hour',
    count: getCount(row.total, 'total'),
  }
}

/** So that the last click of the link is as exact as Kutt knows it. */
function lastOfHour(first: number, updatedAt: KuttDate): number {
  const hour = Math.floor(first / MICROS_PER_HOUR) * MICROS_PER_HOUR
  const last = parseInstant(updatedAt) ?? hour
  return last >= hour && last < hour + MICROS_PER_HOUR ? last : hour
}

function getText(value: unknown, column: string): string {
  if (typeof value !== 'string') throw new RefusedRow(`${column} is no text.`)
  return value
}

function getCount(value: unknown, column: string): number {
  if (!Number.isSafeInteger(value) || Number(value) < 0)
    throw new RefusedRow(`${column} is no count of visits.`)
  return Number(value)
}

function toInstant(value: unknown, column: string): number | null {
  if (value === null) return null
  const instant = parseInstant(value)
  if (instant === undefined) throw new RefusedRow(`${column} is no date.`)
  return instant
}

function parseInstant(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return Math.round(value * 1_000)
  // Some versions wrote ISO 8601, also in UTC.
  return findLocalInstant(String(value).replace(/Z$/, ''), 'UTC')
}

/** Opens Kutt's SQLite database, also while Kutt runs. Dates in it are in UTC. */
export function openKuttSqlite({ file }: FileSettings): ImportSource {
  return kuttSource('kutt-sqlite', async () =>
    readerOf(await openSourceDatabase(file, KUTT_TABLES, 'Kutt')),
  )
}

const LINK_PAGE = `
  select links.id, links.address, domains.address as domain, description, links.banned,
    coalesce(password, '') <> '' as is_protected, expire_in, target,
    visit_count, links.created_at, null as last_visit
  from links left join domains on domains.id = links.domain_id
  where links.id > ? order by links.id limit ?`
const LAST_VISITS = `
  select link_id, max(coalesce(updated_at, created_at)) as last_visit
  from visits where link_id between ? and ? group by link_id`
const VISIT_PAGE = `
  select visits.id, link_id, links.address, total, visits.created_at, visits.updated_at
  from visits left join links on links.id = visits.link_id
  where visits.id > ? order by visits.id limit ?`

function readerOf(database: DatabaseSync): KuttReader {
  const isIndexed = hasVisitIndex(database)
  return {
    countLinks: async () =>
      guardSqlite(() =>
        Number(database.prepare('select count(*) as count from links').get()?.count),
      ),
    readLinks: async ({ afterId, limit }) =>
      guardSqlite(() => {
        const page = { afterId, limit }
        const rows = readSourceRows<KuttLinkRow>(
          database,
          'links',
          database.prepare(LINK_PAGE),
          page,
        )
        const [first, last] = [rows[0], rows.at(-1)]
        if (first === undefined || last === undefined || !isIndexed) return rows
        const visits = database.prepare(LAST_VISITS).all(first.id, last.id)
        const byLink = new Map(visits.map((row) => [row.link_id, row.last_visit]))
        return rows.map((row) => ({
          ...row,
          last_visit: (byLink.get(row.id) ?? null) as string | null,
        }))
      }),
    readVisits: async (page) =>
      readSourceRows<KuttVisitRow>(database, 'visits', database.prepare(VISIT_PAGE), page),
    close: async () => {
      if (database.isOpen) database.close()
    },
  }
}

/** Without its index, each page of links would read all visits. */
function hasVisitIndex(database: DatabaseSync): boolean {
  const index = database
    .prepare(
      "select 1 from pragma_index_list('visits') as list join pragma_index_info(list.name) as part where part.seqno = 0 and part.name = 'link_id' and list.partial = 0",
    )
    .get()
  return index !== undefined
}

const [LINK_TABLE, VISIT_TABLE, DOMAIN_TABLE] = KUTT_TABLES.map(
  ({ name, columns }): DumpTable => ({ suffix: name, columns }),
) as [DumpTable, DumpTable, DumpTable]

/**
 * Opens a dump of Kutt's MySQL or MariaDB database.
 *
 * @param settings `timeZone` is that of the database server: Kutt has its dates in columns without a zone, which a dump
 *   shows as they are, whatever zone it sets
 */
export function openKuttSql({ file, timeZone }: FileSettings): ImportSource {
  return openDumpSource(file, kuttDump(file, timeZone))
}

function kuttDump(file: string, timeZone: string): DumpService {
  const domains = new Map<string, string>()
  const addresses = new Map<string, string>()
  const dateOf = (row: NamedRow, column: string): number | null => {
    const micros = getLocalInstant(row.named.get(column) ?? null, timeZone)
    return micros === null ? null : micros / 1_000
  }
  return {
    name: 'kutt-sql',
    async begin(signal) {
      for await (const row of readDumpRows(file, DOMAIN_TABLE, { after: -1, signal })) {
        domains.set(row.named.get('id') ?? '', row.named.get('address') ?? '')
      }
      // Visits name their links by numbers alone.
      for await (const row of readDumpRows(file, LINK_TABLE, { after: -1, signal })) {
        addresses.set(row.named.get('id') ?? '', row.named.get('address') ?? '')
      }
    },
    links: LINK_TABLE,
    toLink(row, { resume, place }) {
      const domainId = row.named.get('domain_id') ?? null
      const domain = domainId === null ? null : domains.get(domainId)
      if (domain === undefined) throw new RefusedRow('Its domain is not in the dump.')
      const link = {
        id: countOf(row, 'id'),
        address: textOf(row, 'address'),
        domain,
        description: row.named.get('description') ?? null,
        banned: isSet(row.named.get('banned')),
        is_protected: (row.named.get('password') ?? '') !== '',
        expire_in: dateOf(row, 'expire_in'),
        target: textOf(row, 'target'),
        visit_count: countOf(row, 'visit_count'),
        created_at: dateOf(row, 'created_at'),
        last_visit: null,
      }
      return toKuttLink(link, resume, place)
    },
    clicks: VISIT_TABLE,
    toClick(row, resume) {
      const linkId = textOf(row, 'link_id')
      const visit = {
        id: countOf(row, 'id'),
        link_id: Number(linkId),
        address: addresses.get(linkId) ?? null,
        total: countOf(row, 'total'),
        created_at: dateOf(row, 'created_at'),
        updated_at: dateOf(row, 'updated_at'),
      }
      return toKuttCount(visit, resume)
    },
  }
}

/** Booleans are numbers, or bits that a dump shows as text. */
function isSet(value: string | null | undefined): boolean {
  return value !== undefined && value !== null && value !== '0' && value !== '' && value !== '\0'
}
