import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { ClickColumns } from '../src/clicks/click-columns.ts'
import { dayOf, formatDay, startOfDay } from '../src/clicks/tally/click-day.ts'
import { systemClock } from '../src/platform/time/clock.ts'
import { createTestLink } from '../test/clicks/test-link.ts'
import { openWriterAt } from '../test/support/click-writers.ts'
import { globalSetup, globalTeardown } from '../test/support/global-setup.ts'
import type { PostgresServer } from '../test/support/postgres-server.ts'
import { openAt } from '../test/support/store.ts'
import { startKeptPostgres } from './servers/postgres.ts'
import { countClicks } from './support/clicked-link.ts'
import { createDataFolder } from './support/data-folder.ts'
import { fillWithClicks } from './support/many-clicks.ts'
import { type DatabasePlace, fillWithLinks } from './support/many-links.ts'
import { usageOf } from './support/process-usage.ts'
import { report } from './support/report.ts'
import { clickSource, zipf } from './support/sample-clicks.ts'
import { hashOf } from './support/source-hash.ts'
import { median, quantile, round } from './support/statistics.ts'

/**
 * Measures PostgreSQL with ten million links and a hundred million clicks: what a redirect to an
 * uncached link costs, how long charts take, how many clicks a second the drain ingests. Filling
 * the database takes most of the time and is done once a day; `BENCH_LINKS` and `BENCH_CLICKS` make
 * it smaller.
 */
const LINKS = Number(process.env.BENCH_LINKS ?? 10_000_000)
const CLICKS = Number(process.env.BENCH_CLICKS ?? 100_000_000)
const DAYS = 365
const MISSES = 1_000
const CHARTS = 50
const DRAINED = 1_000_000
const DATABASE = 'terse'
/** The sources that determine the data. */
const SOURCES = [
  'src/app/database/migrations/*.ts',
  'bench/support/many-*.ts',
  'bench/support/clicked-link.ts',
]
const WARM_UP = 20

const MISS_MS_MAX = 1
const CHART_MS_MAX = 50
const DRAIN_PER_SECOND_MIN = 20_000

/** The numbers of the links that `fillWithLinks` creates, after one other. */
const FIRST_LINK = 2

const clock = systemClock()
const today = dayOf(clock.nowMicros())
const rows: Record<string, unknown>[] = []
const missed: string[] = []

function note(what: string, measuredMs: readonly number[], msMax: number | undefined): void {
  const p99Ms = quantile(measuredMs, 0.99)
  rows.push({
    what,
    'median ms': round(median(measuredMs), 3),
    'p99 ms': round(p99Ms, 3),
    'at most': msMax ?? '',
  })
  if (msMax !== undefined && median(measuredMs) >= msMax) missed.push(`${what}: ${msMax} ms`)
}

/** The time that the server reports for planning and executing the look-up of one key. */
async function measureMisses(place: DatabasePlace, keyspaceId: number): Promise<void> {
  const client = new pg.Client(place.databaseUrl)
  await client.connect()
  const text = `explain (analyze, timing off, format json)
    select seq, key, url, password, expires_at from links
    where keyspace_id = $1 and key_folded = $2`
  const serverMs: number[] = []
  for (let count = 0; count < MISSES + WARM_UP; count += 1) {
    const key = `page-${Math.ceil(Math.random() * LINKS)}`
    const { rows: found } = await client.query(text, [keyspaceId, key])
    const [plan] = found[0]['QUERY PLAN']
    if (plan.Plan['Actual Rows'] !== 1) throw new Error(`${key} was not found`)
    if (count >= WARM_UP) serverMs.push(plan['Planning Time'] + plan['Execution Time'])
  }
  await client.end()
  note('look-up of an uncached link, server time', serverMs, MISS_MS_MAX)

  const { store } = await openAt(place)
  const seenMs: number[] = []
  for (let count = 0; count < MISSES; count += 1) {
    const key = `page-${Math.ceil(Math.random() * LINKS)}`
    const startedMs = performance.now()
    await store.read.directory.findByFoldedKey(keyspaceId, key)
    seenMs.push(performance.now() - startedMs)
  }
  await store.close()
  note('the same, node time', seenMs, undefined)
}

async function measureCharts(
  place: DatabasePlace,
  workspaceId: string,
  linkSeq: number,
): Promise<void> {
  const { store } = await openAt(place)
  const scope = { kind: 'link', workspaceId, linkSeq } as const
  for (const [name, options] of [
    ['a year by day', { slots: false }],
    ['a year, by country', { slots: false, dimension: 'country' }],
  ] as const) {
    const ms: number[] = []
    for (let count = 0; count < CHARTS + 3; count += 1) {
      const startedMs = performance.now()
      const days = await store.read.reports.readDays(scope, today - DAYS, today - 1, options)
      if (days.length !== DAYS) throw new Error(`${days.length} days`)
      if (count >= 3) ms.push(performance.now() - startedMs)
    }
    note(`chart query: ${name}`, ms, CHART_MS_MAX)
  }
  await store.close()
}

/**
 * Loads what is changed with every click into the server's memory, as it is after a while under
 * this load.
 */
async function warmUp(server: PostgresServer): Promise<void> {
  await server.query('create extension if not exists pg_prewarm', DATABASE)
  for (const relation of ['links', 'links_pkey', 'link_clicks', 'link_clicks_pkey']) {
    await server.query(`select pg_prewarm('${relation}')`, DATABASE)
  }
}

/** In CPU time of this process and the server together, as in `bench:drain`. */
async function measureDrain(place: DatabasePlace): Promise<void> {
  for (const [name, exponent] of [
    ['uniform', 0],
    ['Zipf(1)', 1],
  ] as const) {
    const draw = zipf(LINKS, exponent)
    const source = clickSource(() => FIRST_LINK + draw())
    const writer = await openWriterAt(place)
    const midnight = startOfDay(today)
    const journalId = randomUUID()
    const cpuBefore = usageOf(process.pid).cpuMicros
    let drawingMicros = 0
    let takingMs = 0
    for (let done = 0; done < DRAINED; done += writer.batchMax) {
      const from = done === 0 ? undefined : { segment: 1, offset: done }
      const to = { segment: 1, offset: done + writer.batchMax }
      const drawing = process.cpuUsage()
      const clicks = Array.from({ length: writer.batchMax }, (_, nth) =>
        source(midnight + done + nth),
      )
      const { user, system } = process.cpuUsage(drawing)
      drawingMicros += user + system
      const startedMs = performance.now()
      if (
        !(await writer.write({
          journalId,
          from,
          to,
          clicks: ClickColumns.of(clicks),
          atMicros: clock.nowMicros(),
        }))
      ) {
        throw new Error('the clicks were not ingested')
      }
      takingMs += performance.now() - startedMs
    }
    const cpuMicros = usageOf(process.pid).cpuMicros - cpuBefore - drawingMicros
    await writer.close()
    const perSecond = Math.round((DRAINED * 1e6) / cpuMicros)
    rows.push({
      what: `drain, ${name}`,
      'clicks/s of CPU': perSecond,
      'clicks/s, wall': Math.round((DRAINED * 1e3) / takingMs),
      'at least': DRAIN_PER_SECOND_MIN,
    })
    if (perSecond < DRAIN_PER_SECOND_MIN) missed.push(`drain, ${name}: ${perSecond} clicks/s`)
  }
}

/** Deletes the drained clicks, so that the next run starts from the same data. */
async function forgetDrained(server: PostgresServer): Promise<void> {
  await server.query(`delete from clicks where at >= ${startOfDay(today)}`, DATABASE)
  await server.query(`delete from click_days where day = ${today}`, DATABASE)
  for (const table of ['clicks', 'click_days', 'link_clicks']) {
    await server.query(`vacuum ${table}`, DATABASE)
  }
}

/** Includes indexes, and what the server stores beside the rows. */
async function measureBytes(place: DatabasePlace): Promise<void> {
  const client = new pg.Client(place.databaseUrl)
  await client.connect()
  for (const [table, count] of [
    ['links', LINKS],
    ['link_clicks', LINKS],
    ['clicks', CLICKS],
    ['click_days', undefined],
  ] as const) {
    const { rows: sizes } = await client.query(
      `select (pg_total_relation_size($1::regclass) + coalesce(sum(pg_total_relation_size(relid)), 0))::float8
         as bytes, (select count(*)::float8 from ${table}) as rows
       from pg_partition_tree($1::regclass) where relid <> $1::regclass`,
      [table],
    )
    const [{ bytes, rows: counted }] = sizes
    rows.push({ what: `bytes a row of ${table}`, bytes: round(bytes / (count ?? counted)) })
  }
  await client.end()
}

async function timed(what: string, work: () => Promise<void>): Promise<void> {
  const startedMs = performance.now()
  await work()
  process.stdout.write(`${what}: ${round((performance.now() - startedMs) / 1_000)} s\n`)
}

/** Fills a new server; `today` is the day after its last clicks. */
async function fill(server: PostgresServer): Promise<void> {
  await server.query(`create database ${DATABASE}`)
  const place = placeOn(server)
  const { store, db } = await openAt(place)
  await createTestLink(store, clock)
  const { seq } = await db.selectFrom('links').select('seq').executeTakeFirstOrThrow()
  await store.close()
  await timed(`${LINKS} links`, () => fillWithLinks(place, LINKS))
  await timed(`${CLICKS} clicks`, () =>
    fillWithClicks(place, { clicks: CLICKS, links: LINKS, firstLink: FIRST_LINK, today }),
  )
  await countClicks(place, seq, { clicks: CLICKS, days: DAYS, today })
}

function placeOn(server: PostgresServer): DatabasePlace {
  return { databaseUrl: server.url(DATABASE), dataDir: createDataFolder() }
}

// Creates the user that runs PostgreSQL when this is run by root.
await globalSetup()
try {
  const version = `${formatDay(today)}-${hashOf(SOURCES)}`
  const server = await startKeptPostgres(`postgres-${LINKS}-${CLICKS}`, version, fill)
  try {
    const place = placeOn(server)
    const { store, db } = await openAt(place)
    const { keyspace_id, workspace_id, seq } = await db
      .selectFrom('links')
      .select(['keyspace_id', 'workspace_id', 'seq'])
      .orderBy('seq')
      .limit(1)
      .executeTakeFirstOrThrow()
    await store.close()
    await measureBytes(place)
    await measureMisses(place, keyspace_id)
    await measureCharts(place, workspace_id, seq)
    await warmUp(server)
    await measureDrain(place)
    await forgetDrained(server)
  } finally {
    await server.stop()
  }
} finally {
  await globalTeardown()
}
report('postgres', rows, missed)
