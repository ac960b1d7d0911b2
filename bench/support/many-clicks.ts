import pg from 'pg'
import { startOfDay } from '../../src/domain/clicks/click-day.ts'
import { SCOPES } from '../../src/storage/click-day-rows.ts'
import { openWriterAt } from '../../test/support/click-writers.ts'
import type { Place } from '../../test/support/engines.ts'

/** Days over which the clicks are spread. */
const DAYS = 30
/** Clicks of one link on one day, in the mean: a row of sums for so many. */
const CLICKS_PER_SUM = 5
const SUM_BYTES = 24

/** Raw clicks and sums on PostgreSQL, with about as many rows of about the size as a drain would leave. */
export async function fillWithClicks(
  place: Place,
  options: { clicks: number; links: number; firstLink: number; today: number },
): Promise<void> {
  const { clicks, links, firstLink, today } = options
  const writer = openWriterAt(place)
  const client = new pg.Client(place.databaseUrl)
  await client.connect()
  const link = (number: string) => `${firstLink} + (${number} * 7919::bigint) % ${links}`
  try {
    const perDay = Math.ceil(clicks / DAYS)
    for (let day = today - DAYS; day < today; day += 1) {
      // Makes the day's partition, and those of the next ones.
      await writer.maintain(day, undefined)
      await client.query(`
        insert into clicks (at, link_seq, workspace_id, keyspace_id, flags, visitor, country, device,
          os, browser, referrer, language, source)
        select ${startOfDay(day)} + n, ${link('n')}, w.id, 1, 0, n * 4503599627 % 9007199254740881,
          'DE', 'mobile', 'Android', 'Chrome', 'www.example.com', 'de', 'direct'
        from generate_series(1::bigint, ${perDay}) n, (select id from workspaces limit 1) w`)
      await client.query(`
        insert into click_days (day, scope, subject, workspace_id, part, folded, parts, data)
        select ${day}, ${SCOPES.link}, ${firstLink} + n, '', 0, 0, 0, decode(repeat('00', ${SUM_BYTES}), 'hex')
        from generate_series(1::bigint, ${Math.min(links - 1, Math.ceil(perDay / CLICKS_PER_SUM))}) n`)
    }
    await client.query('vacuum analyze clicks')
    await client.query('vacuum analyze click_days')
  } finally {
    await client.end()
    await writer.close()
  }
}
