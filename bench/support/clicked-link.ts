import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { CLICK_FLAGS } from '../../src/clicks/click.ts'
import { ClickColumns, wholeRun } from '../../src/clicks/click-columns.ts'
import { encodeParts, PARTS, SCOPES } from '../../src/clicks/store/fold-days.ts'
import { SLOTS_PER_DAY, startOfDay } from '../../src/clicks/tally/click-day.ts'
import { DayTally } from '../../src/clicks/tally/day-tally.ts'
import { countedFile } from '../../src/storage/sqlite/data-files.ts'
import type { DatabasePlace } from './many-links.ts'

const BOT_SHARE = 0.1
const SLOT_MICROS = 15 * 60 * 1_000_000

/** How many values of each dimension share the clicks, by Zipf's law. */
const VALUES = {
  country: names(200, (nth) => String.fromCharCode(65 + (nth % 26), 65 + Math.floor(nth / 26))),
  device: names(5, (nth) => `device-${nth}`),
  os: names(20, (nth) => `System ${nth}`),
  browser: names(60, (nth) => `Browser ${nth}`),
  referrer: names(1_000, (nth) => `www.site-${nth}.example.com`),
  language: names(60, (nth) => String.fromCharCode(97 + (nth % 26), 97 + Math.floor(nth / 26))),
  source: names(2, (nth) => (nth === 0 ? 'direct' : 'qr')),
} as const

type Row = readonly [day: number, part: number, parts: number, data: Uint8Array]

function names(count: number, name: (nth: number) => string): string[] {
  return Array.from({ length: count }, (_, nth) => name(nth))
}

/** Distributes a day's clicks over its quarter hours and values, unevenly: a value is as frequent as its number is small. */
function tallyOfDay(clicks: number, day: number): DayTally {
  const tally = new DayTally()
  const columns = new ClickColumns()
  const share = clicks / SLOTS_PER_DAY / harmonic(VALUES.referrer.length)
  for (const [nth, referrer] of VALUES.referrer.entries()) {
    for (let slot = 0; slot < SLOTS_PER_DAY; slot += 1) {
      const count = share / (nth + 1) + Math.random()
      const click = {
        at: startOfDay(day) + slot * SLOT_MICROS,
        link_seq: 1,
        visitor: 1 + Math.floor(Math.random() * 2 ** 53 * 0.999),
        country: valueAt('country', nth),
        device: valueAt('device', nth),
        os: valueAt('os', nth),
        browser: valueAt('browser', nth),
        referrer,
        language: valueAt('language', nth),
        source: valueAt('source', nth),
        rule: '',
        variant: '',
        label: '',
        region: '',
        city: '',
      }
      columns.add({ ...click, flags: 0, count: Math.floor(count * (1 - BOT_SHARE)) })
      columns.add({ ...click, flags: CLICK_FLAGS.bot, count: Math.floor(count * BOT_SHARE) })
    }
  }
  const clicked = columns.indexes().filter((index) => columns.count[index] !== 0)
  tally.addClicks(columns, wholeRun(clicked))
  return tally
}

function valueAt(dimension: keyof typeof VALUES, nth: number): string {
  const values = VALUES[dimension]
  return values[nth % values.length] ?? ''
}

function harmonic(count: number): number {
  let sum = 0
  for (let nth = 1; nth <= count; nth += 1) sum += 1 / nth
  return sum
}

/**
 * Writes the tallies of a link with `clicks` clicks over the `days` days before `today`, as a drain
 * leaves them once these days are over.
 */
export async function countClicks(
  place: DatabasePlace,
  linkSeq: number,
  options: { readonly clicks: number; readonly days: number; readonly today: number },
): Promise<void> {
  const key = [SCOPES.link, linkSeq, ''] as const
  const rows = function* (): Generator<Row> {
    for (let day = options.today - options.days; day < options.today; day += 1) {
      const parts = encodeParts(tallyOfDay(options.clicks / options.days, day))
      const bytes = parts.reduce((sum, { data }) => sum + data.length, 0)
      yield [day, PARTS.recent, bytes, new Uint8Array(0)]
      for (const { part, data } of parts) yield [day, part, 0, data]
    }
  }
  const columns = '(scope, subject, workspace_id, day, part, folded, parts, data)'
  if (place.databaseUrl === undefined) {
    const database = new DatabaseSync(countedFile(place.dataDir), { timeout: 10_000 })
    database.exec('begin')
    const insert = database.prepare(`insert into click_days ${columns} values (?,?,?,?,?,0,?,?)`)
    for (const row of rows()) insert.run(...key, ...row)
    database.exec('commit; analyze')
    database.close()
    return
  }
  const client = new pg.Client(place.databaseUrl)
  await client.connect()
  const text = `insert into click_days ${columns} values ($1,$2,$3,$4,$5,0,$6,$7)`
  for (const row of rows()) await client.query(text, [...key, ...row])
  await client.query('analyze click_days')
  await client.end()
}
