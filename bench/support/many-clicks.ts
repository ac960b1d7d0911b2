import pg from 'pg'
import { SCOPES } from '../../src/clicks/store/click-day-rows.ts'
import { startOfDay } from '../../src/clicks/tally/click-day.ts'
import { openWriterAt } from '../../test/support/click-writers.ts'
import type { DatabasePlace } from './many-links.ts'

/** Days over which the clicks are spread. */
const DAYS = 30
/** Clicks of one link on one day, in the mean: a row of sums for so many. */
const CLICKS_PER_SUM = 5
const SUM_BYTES = 24

/** Raw clicks and sums on PostgreSQL, with about as many rows of about the size as a drain would leave. */
export async function fillWithClicks(
  place: DatabasePlace,
  options: { clicks: number; links: number; firstLink: number; today: number },
): Promise<void> {
  const { clicks, links, firstLink, today } = options
  const writer = openWriterAt(place)
  const link = (number: string) => `${firstLink} + (${number} * 7919::bigint) % ${links}`
  const perDay = Math.ceil(clicks / DAYS)
  const days = Array.from({ length: DAYS }, (_, nth) => today - DAYS + nth)
  // Makes a day's partition, and those of the next ones.
  for (const day of days) await writer.maintain(day, undefined)
  await writer.close()

  // Side by side: each is a process of the server, which takes a core.
  await Promise.all([
    runEach(place, [
      ...days.map(
        (day) => `
        insert into clicks (at, link_seq, workspace_id, keyspace_id, flags, visitor, country, device,
          os, browser, referrer, language, source)
        select ${startOfDay(day)} + n, ${link('n')}, w.id, 1, 0, n * 4503599627 % 9007199254740881,
          'DE', 'mobile', 'Android', 'Chrome', 'www.example.com', 'de', 'direct'
        from generate_series(1::bigint, ${perDay}) n, (select id from workspaces limit 1) w`,
      ),
      'vacuum analyze clicks',
    ]),
    runEach(place, [
      ...days.map(
        (day) => `
        insert into click_days (day, scope, subject, workspace_id, part, folded, parts, data)
        select ${day}, ${SCOPES.link}, ${firstLink} + n, '', 0, 0, 0, decode(repeat('00', ${SUM_BYTES}), 'hex')
        from generate_series(1::bigint, ${Math.min(links - 1, Math.ceil(perDay / CLICKS_PER_SUM))}) n`,
      ),
      'vacuum analyze click_days',
    ]),
  ])
}

async function runEach(place: DatabasePlace, statements: readonly string[]): Promise<void> {
  const client = new pg.Client(place.databaseUrl)
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
