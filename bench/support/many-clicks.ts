import pg from 'pg'
import { SCOPES } from '../../src/clicks/store/fold-days.ts'
import { startOfDay } from '../../src/clicks/tally/click-day.ts'
import { openWriterAt } from '../../test/support/click-writers.ts'
import type { DatabasePlace } from './many-links.ts'

/** The number of days with clicks. */
const DAYS = 30
/** The mean number of clicks of one link on one day, which share a row of sums. */
const CLICKS_PER_SUM = 5
const SUM_BYTES = 24

/**
 * Writes raw clicks and sums to PostgreSQL, with rows of about the number and size that a drain
 * would leave.
 */
export async function fillWithClicks(
  place: DatabasePlace,
  options: { clicks: number; links: number; firstLink: number; today: number },
): Promise<void> {
  const { clicks, links, firstLink, today } = options
  const writer = await openWriterAt(place)
  const link = (number: string) => `${firstLink} + (${number} * 7919::bigint) % ${links}`
  const perDay = Math.ceil(clicks / DAYS)
  const days = Array.from({ length: DAYS }, (_, nth) => today - DAYS + nth)
  // Creates the partitions of one day and the next ones.
  for (const day of days) await writer.maintain(day, undefined)
  await writer.close()

  // Concurrently: each connection is a process of the server, which uses a core.
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
