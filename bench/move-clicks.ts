import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { countedClick } from '../src/clicks/click.ts'
import { ClickColumns } from '../src/clicks/click-columns.ts'
import type { ClickWriter } from '../src/clicks/click-writer.ts'
import { startOfDay } from '../src/clicks/tally/click-day.ts'
import { DayTally } from '../src/clicks/tally/day-tally.ts'
import { systemClock } from '../src/platform/time/clock.ts'
import { createTestLink } from '../test/clicks/test-link.ts'
import { openWriterAt } from '../test/support/click-writers.ts'
import { createClickhouse } from '../test/support/clickhouse/server.ts'
import { clicksAt } from '../test/support/engines.ts'
import { openAt } from '../test/support/store.ts'
import { createDataFolder } from './support/data-folder.ts'
import { fillWithLinks } from './support/many-links.ts'
import { report } from './support/report.ts'
import { round } from './support/statistics.ts'

/**
 * Moves clicks with the command `terse clicks move`: half of them from the database to ClickHouse, the other half, which
 * ClickHouse has counted, back, and what is left there again, which is nothing. Fails where charts lack a click or have one
 * twice. The database is SQLite, or an empty PostgreSQL at BENCH_DATABASE_URL.
 */
const CLICKS = Number(process.env.BENCH_CLICKS ?? 20_000_000)
const LINKS = 100_000
const DAYS = 75
const BATCH = 50_000
const CLOCK = systemClock()
const MAIN = fileURLToPath(new URL('../bin/terse.js', import.meta.url))
/** Prints the most memory that the command had, and its processor time. */
const PRINT_USAGE =
  'data:text/javascript,process.on("exit",()=>{const u=process.resourceUsage();' +
  'console.error("usage="+u.maxRSS,u.userCPUTime+u.systemCPUTime)})'

const rows: Record<string, unknown>[] = []
const missed: string[] = []
const server = await createClickhouse()
await server.start()
await server.query('create database clicks')
const place = {
  dataDir: createDataFolder(),
  databaseUrl: process.env.BENCH_DATABASE_URL,
  clicks: clicksAt(server.url('clicks'), server.password),
}
const { clicks: _, ...plain } = place
const opened = await openAt(place)
const { seq } = await createTestLink(opened.store, CLOCK)
await fillWithLinks(place, LINKS)

function pick(values: readonly string[]): string {
  return values[Math.floor(Math.random() ** 2 * values.length)] ?? ''
}

const SITES = Array.from({ length: 300 }, (_, nth) => `site${nth}.example`)
const firstDay = Math.floor(CLOCK.nowMicros() / startOfDay(1)) - DAYS

/** A third of the clicks is on a hundred links. */
function batchAt(share: number): ClickColumns {
  const at = startOfDay(firstDay) + Math.floor(share * startOfDay(DAYS))
  return ClickColumns.of(
    Array.from({ length: BATCH }, (_, nth) => ({
      ...countedClick(seq + Math.floor(LINKS ** Math.random()), at + nth * 20_000, 1),
      flags: nth % 20 === 0 ? 1 : 0,
      visitor: 1 + Math.floor(Math.random() * 2 ** 52),
      country: pick(['DE', 'US', 'FR', 'GB', 'IN', 'JP', 'BR']),
      device: pick(['mobile', 'desktop', 'tablet']),
      os: pick(['iOS', 'Android', 'Windows', 'macOS']),
      browser: pick(['Safari', 'Chrome', 'Firefox']),
      referrer: pick(SITES),
      language: pick(['de', 'en', 'fr']),
      source: nth % 30 === 0 ? 'qr' : 'direct',
      label: nth % 50 === 0 ? pick(['spring', 'summer']) : '',
    })),
  )
}

async function count(writer: ClickWriter, clicks: number): Promise<void> {
  const journalId = randomUUID()
  let from: { segment: number; offset: number } | undefined
  for (let done = 0; done < clicks; done += BATCH) {
    const to = { segment: 1, offset: done + 1 }
    const atMicros = CLOCK.nowMicros()
    await writer.write({ journalId, from, to, clicks: batchAt(done / clicks), atMicros })
    from = to
  }
  await writer.close()
}

async function move(what: string, args: readonly string[], env: Record<string, string>) {
  const begun = performance.now()
  const output = await new Promise<{ error: unknown; stdout: string; stderr: string }>((resolve) =>
    execFile(
      process.execPath,
      ['--import', PRINT_USAGE, MAIN, 'clicks', 'move', ...args],
      {
        env: {
          PATH: process.env.PATH,
          TERSE_DATA_DIR: place.dataDir,
          ...(place.databaseUrl && { TERSE_DATABASE_URL: place.databaseUrl }),
          TERSE_CLICK_RETENTION_DAYS: '0',
          TERSE_CLICKS_PASSWORD: server.password,
          ...env,
        },
      },
      (error, stdout, stderr) => resolve({ error, stdout, stderr }),
    ),
  )
  const seconds = (performance.now() - begun) / 1_000
  const [, kib, micros] = /usage=(\d+) (\d+)/.exec(output.stderr) ?? []
  rows.push({
    what,
    seconds: round(seconds),
    cpuSeconds: round(Number(micros) / 1e6),
    mib: Math.round(Number(kib) / 1_024),
    says: output.stdout,
  })
  if (output.error !== null) throw new Error(`${what}: ${output.stdout}${output.stderr}`)
}

/** Adds up the charts of both sides, by scope. */
async function expectCounts(what: string, inDatabase: number, inClickhouse: number) {
  const tally = new DayTally()
  const sums = [0, 0, 0]
  let after = [-1e9, 0, 0, '', 0] as readonly (number | string)[]
  for (;;) {
    const page = await opened.db
      .selectFrom('click_days')
      .select(['day', 'scope', 'subject', 'workspace_id', 'part', 'data'])
      .where(sql<boolean>`(day, scope, subject, workspace_id, part) > (${sql.join(after)})`)
      .orderBy('day')
      .orderBy('scope')
      .orderBy('subject')
      .orderBy('workspace_id')
      .orderBy('part')
      .limit(5_000)
      .execute()
    for (const { scope, part, data } of page) {
      if (part > 1) continue
      tally.clear()
      if (part === 0) tally.addChunks(data)
      else tally.addTotal(data, false)
      const { persons, others } = tally.total(false)
      sums[scope] = (sums[scope] ?? 0) + persons + others
    }
    const last = page.at(-1)
    if (last === undefined) break
    after = [last.day, last.scope, last.subject, last.workspace_id, last.part]
  }
  const found = await server.query(
    'select sum(persons) + sum(others) from clicks.click_counts group by scope order by scope',
  )
  const there = found.trim().split('\n').map(Number)
  const isRight =
    sums.every((sum) => sum === inDatabase) && there.every((sum) => sum === inClickhouse)
  rows.push({ what, database: sums.join(' '), clickhouse: there.join(' ') })
  if (!isRight) missed.push(`${what}: expected ${inDatabase} and ${inClickhouse}`)
}

const url = server.url('clicks')
const half = CLICKS / 2
await count(await openWriterAt(plain), half)
await move('there', ['--to', url], { TERSE_CLICKS_URL: url })
await expectCounts('after there', half, half)
await count(await openWriterAt(place), half)
await move('back', ['--to', 'database', '--from', url], {})
await expectCounts('after back', CLICKS, CLICKS)
await move('back again', ['--to', 'database', '--from', url], {})
await move('there again', ['--to', url], { TERSE_CLICKS_URL: url })
await expectCounts('after there again', CLICKS, CLICKS)
await opened.store.close()
await server.stop()
await server.remove()
report('move-clicks', rows, missed)
