import { randomUUID } from 'node:crypto'
import { countedClick } from '../src/clicks/click.ts'
import { ClickColumns } from '../src/clicks/click-columns.ts'
import type { ClickScope } from '../src/clicks/report/day-of-clicks.ts'
import { sumBusyDays } from '../src/clicks/store/clickhouse/busy-days.ts'
import { openClickDatabase } from '../src/clicks/store/clickhouse/click-database.ts'
import { clickHouseDays } from '../src/clicks/store/clickhouse/click-days.ts'
import { startOfDay } from '../src/clicks/tally/click-day.ts'
import { ValueTotals } from '../src/clicks/tally/values.ts'
import { systemClock } from '../src/platform/time/clock.ts'
import { parseClicksUrl } from '../src/storage/clickhouse/clicks-url.ts'
import { createTestLink } from '../test/clicks/test-link.ts'
import { openWriterAt } from '../test/support/click-writers.ts'
import { createClickhouse } from '../test/support/clickhouse/server.ts'
import { openAt } from '../test/support/store.ts'
import { createDataFolder } from './support/data-folder.ts'
import { fillWithLinks } from './support/many-links.ts'
import { usageOf } from './support/process-usage.ts'
import { report } from './support/report.ts'
import { quantile, round } from './support/statistics.ts'

/**
 * Measures clicks on ClickHouse, with an engine of its own and SQLite for links: what a click costs both in processor time
 * and disk, from batches of clicks on few links, of which some have most, and on a million links; then how long charts take
 * over a year of many clicks, which the engine makes up itself.
 */
const CLICKS = Number(process.env.BENCH_CLICKS ?? 100_000_000)
const BATCH = 100_000
const BATCHES = 10
const FILL_BLOCK = 2_000_000
const DAYS = 365
const CHARTS = 60
const TARGETS = { microsPerClick: 10, bytesPerClick: 20, linkMs: 50, workspaceMs: 300 }
const TABLES = [
  'clicks',
  'click_counts',
  'click_values',
  'click_visitors',
  'link_days',
  'busy_days',
]
const CLOCK = systemClock()

const rows: Record<string, unknown>[] = []
const missed: string[] = []
const server = await createClickhouse()
await server.start()

async function createClicks(name: string) {
  await server.query(`create database ${name}`)
  const parsed = parseClicksUrl(server.url(name))
  if (!('value' in parsed)) throw new Error(parsed.fault)
  return { address: parsed.value, password: server.password }
}

/** Processor time of the engine, which is a child of this process. */
function engineMicros(): number {
  const { user, system } = process.cpuUsage()
  return usageOf(process.pid).cpuMicros - user - system
}

function pick(values: readonly string[]): string {
  return values[Math.floor(Math.random() ** 2 * values.length)] ?? ''
}

const SITES = Array.from({ length: 300 }, (_, nth) => `site${nth}.example`)

async function measureWriting(name: string, links: number, rank: () => number): Promise<void> {
  const clicks = await createClicks(name)
  const place = { dataDir: createDataFolder(), databaseUrl: undefined, clicks }
  const { store } = await openAt(place)
  const { seq } = await createTestLink(store, CLOCK)
  await fillWithLinks(place, links)
  const writer = await openWriterAt(place)
  const journalId = randomUUID()
  const [own, engine] = [[] as number[], [] as number[]]
  let from: { segment: number; offset: number } | undefined
  for (let batch = 1; batch <= BATCHES; batch += 1) {
    const columns = ClickColumns.of(
      Array.from({ length: BATCH }, (_, nth) => ({
        ...countedClick(seq + rank(), CLOCK.nowMicros() + nth * 5, 1),
        flags: nth % 20 === 0 ? 1 : 0,
        visitor: 1 + Math.floor(Math.random() * 2 ** 52),
        country: pick(['DE', 'US', 'FR', 'GB', 'IN']),
        device: pick(['mobile', 'desktop']),
        os: pick(['iOS', 'Android', 'Windows']),
        browser: pick(['Safari', 'Chrome', 'Firefox']),
        referrer: pick(SITES),
        language: pick(['de', 'en']),
      })),
    )
    const to = { segment: 1, offset: batch }
    const before = { own: process.cpuUsage(), engine: engineMicros() }
    await writer.write({ journalId, from, to, clicks: columns, atMicros: CLOCK.nowMicros() })
    const { user, system } = process.cpuUsage(before.own)
    own.push((user + system) / BATCH)
    engine.push((engineMicros() - before.engine) / BATCH)
    from = to
  }
  const merging = engineMicros()
  for (const table of TABLES) await server.query(`optimize table ${name}.${table} final`)
  const mergeMicros = (engineMicros() - merging) / (BATCH * BATCHES)
  const [terseMicros, insertMicros] = [quantile(own.slice(1), 0.5), quantile(engine.slice(1), 0.5)]
  const micros = terseMicros + insertMicros + mergeMicros
  const bytes = (await bytesOf(name)) / (BATCH * BATCHES)
  rows.push({
    what: `${BATCH * BATCHES} clicks, ${name}`,
    terseMicros: round(terseMicros),
    insertMicros: round(insertMicros),
    mergeMicros: round(mergeMicros),
    clicksPerSecondOfTwoCores: Math.round(2e6 / micros),
    bytesPerClick: round(bytes),
  })
  if (micros > TARGETS.microsPerClick) missed.push(`${name}: ${round(micros)} µs a click`)
  if (bytes > TARGETS.bytesPerClick) missed.push(`${name}: ${round(bytes)} bytes a click`)
  await writer.close()
  await store.close()
}

/** Of what is kept longer than a day. */
async function bytesOf(name: string): Promise<number> {
  const among = TABLES.map((table) => `'${table}'`).join(', ')
  return Number(
    await server.query(
      `select sum(bytes_on_disk) from system.parts where active and database = '${name}' and table in (${among})`,
    ),
  )
}

await measureWriting('few_links', 2_000, () => Math.floor(2_000 ** Math.random()))
await measureWriting('a_million_links', 1_000_000, () => Math.floor(Math.random() * 1_000_000))

const WORKSPACE = randomUUID()
const LINKS = 100_000
const today = Math.floor(CLOCK.nowMicros() / startOfDay(1))
const firstDay = today - DAYS

async function fill(): Promise<void> {
  const step = (startOfDay(1) * DAYS) / CLICKS
  for (let from = 0; from < CLICKS; from += FILL_BLOCK) {
    await server.query(
      `insert into year.incoming_clicks (block, begun_at, workspace, link, kept, at, keyspace, flags, count, visitor,
         country, device, os, browser, referrer, language, source)
       select '${randomUUID()} 1 0 1 1', now64(6), '${WORKSPACE}', toUInt64(pow(${LINKS}, rand(3) / 4294967296)) as number_of_link,
         0, toInt64(${startOfDay(firstDay)} + number * ${step}), number_of_link % 20, rand(1) % 10 = 0, 1, rand64(4) % 4503599627370496 + 1,
         ['DE','US','FR','GB','JP','IN','BR','CN'][1 + rand(5) % 8], ['desktop','mobile','tablet'][1 + rand(6) % 3],
         ['iOS','Windows','Android','macOS'][1 + rand(7) % 4], ['Chrome','Safari','Firefox','Edge'][1 + rand(8) % 4],
         concat('site', toString(toUInt64(pow(300, rand(9) / 4294967296))), '.example'), ['en','de','fr'][1 + rand(10) % 3],
         if(rand(11) % 20 = 0, 'qr', 'direct')
       from numbers(${from}, ${Math.min(FILL_BLOCK, CLICKS - from)})
       settings max_block_size = ${FILL_BLOCK}, min_insert_block_size_rows = ${FILL_BLOCK}, min_insert_block_size_bytes = 0,
         min_insert_block_size_rows_for_materialized_views = ${FILL_BLOCK}, min_insert_block_size_bytes_for_materialized_views = 0`,
    )
  }
}

const db = openClickDatabase(await createClicks('year'), { timeoutMs: 600_000, connectionsMax: 4 })
await db.rows('select 1')
await fill()
// As the server does when the months are a day old.
await server.query('optimize table year.clicks final')
await sumAll()
const days = clickHouseDays(db)

/** Adds busy days up, as maintenance does in several runs. */
async function sumAll(): Promise<void> {
  const count = async () => Number(await server.query('select count() from year.busy_days final'))
  const cpu = engineMicros()
  for (let before = -1, now = 0; now > before; [before, now] = [now, await count()]) {
    await sumBusyDays(db, today)
  }
  rows.push({ what: 'busy days', engineSeconds: round((engineMicros() - cpu) / 1e6) })
}

async function measureCharts(what: string, scopeOf: () => ClickScope, atMostMs: number) {
  for (const span of [30, DAYS]) {
    for (const dimension of ['country', 'referrer'] as const) {
      const ms: number[] = []
      for (let chart = 0; chart < CHARTS; chart += 1) {
        const began = performance.now()
        const options = { dimension, slots: false, totals: new ValueTotals() }
        await days.readDays(scopeOf(), today - span, today, options)
        ms.push(performance.now() - began)
      }
      const p95 = round(quantile(ms, 0.95))
      const name = `${what}, ${span} days by ${dimension}`
      rows.push({ what: name, medianMs: round(quantile(ms, 0.5)), p95Ms: p95 })
      if (p95 > atMostMs) missed.push(`${name}: ${p95} ms`)
    }
  }
}

/** A link as a click finds it: those with many clicks come often. */
function someLink(): ClickScope {
  const linkSeq = Math.floor(LINKS ** Math.random())
  return { kind: 'link', workspaceId: WORKSPACE, linkSeq }
}

await measureCharts('link', someLink, TARGETS.linkMs)
await measureCharts(
  'workspace',
  () => ({ kind: 'workspace', workspaceId: WORKSPACE }),
  TARGETS.workspaceMs,
)
rows.push({
  what: `${CLICKS} clicks of a year`,
  bytesPerClick: round((await bytesOf('year')) / CLICKS),
})
await db.close()
await server.remove()
report('clickhouse', rows, missed)
