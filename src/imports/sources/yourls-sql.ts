import type { ImportSource } from '../import-source.ts'
import type { FileSettings } from '../source-kinds.ts'
import {
  countOf,
  countryOf,
  type DumpService,
  type NamedRow,
  openDumpSource,
  textOf,
} from './dump-source.ts'
import { linkRecord, RefusedRow } from './link-record.ts'
import { peerOptions } from './peer-options.ts'
import { getLocalInstant, shownIn } from './source-dates.ts'

/**
 * Opens a dump of YOURLS's database.
 *
 * @param settings `timeZone` is that of the database server
 */
export function openYourlsSql({ file, timeZone }: FileSettings): ImportSource {
  return openDumpSource(file, yourls(timeZone))
}

/** Written for a click without a referrer. */
const NO_REFERRER = 'direct'
/** Written for a request without a user agent. */
const NO_AGENT = '-'

const yourls = (serverZone: string): DumpService => ({
  name: 'yourls-sql',
  links: { suffix: 'url', columns: ['keyword', 'url', 'timestamp', 'clicks'] },
  toLink(row, at) {
    const key = textOf(row, 'keyword')
    const url = textOf(row, 'url')
    return linkRecord({
      ...at,
      ref: key,
      key,
      url,
      created_at: creationOf(row, serverZone),
      clicks: countOf(row, 'clicks'),
      options: peerOptions('yourls', { title: row.named.get('title') }, url).options,
    })
  },
  clicks: { suffix: 'log', columns: ['click_time', 'shorturl', 'referrer', 'user_agent'] },
  toClick(row, resume) {
    const at = getLocalInstant(textOf(row, 'click_time'), 'UTC')
    if (at === null) throw new RefusedRow('click_time is not set.')
    const referrer = textOf(row, 'referrer')
    const agent = textOf(row, 'user_agent')
    return {
      kind: 'click',
      resume,
      ref: textOf(row, 'shorturl'),
      at,
      address: row.named.get('ip_address') || null,
      user_agent: agent === NO_AGENT ? '' : agent,
      referrer: referrer === NO_REFERRER ? '' : referrer,
      country: countryOf(row.named.get('country_code') ?? null),
      is_bot: false,
    }
  },
})

/**
 * Returns when the link was made. YOURLS writes UTC, but into a TIMESTAMP: the server takes the text for its own
 * time, and a dump that sets a zone shows it shifted by the difference. A dump that sets none shows what YOURLS
 * wrote.
 */
function creationOf(row: NamedRow, serverZone: string): number | null {
  const shown = row.named.get('timestamp') ?? null
  if (row.timeZone === undefined) return getLocalInstant(shown, 'UTC')
  const stored = getLocalInstant(shown, row.timeZone)
  return stored === null ? null : shownIn(serverZone, stored)
}
