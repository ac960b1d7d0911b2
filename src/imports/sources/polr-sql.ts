import type { ImportSource } from '../import-source.ts'
import type { FileSettings } from '../source-kinds.ts'
import { countOf, countryOf, type DumpService, openDumpSource, textOf } from './dump-source.ts'
import { linkRecord, RefusedRow } from './link-record.ts'
import { getLocalInstant } from './source-dates.ts'

/**
 * Opens a dump of Polr's database.
 *
 * @param settings `timeZone` is that of the database server, for a dump that sets none
 */
export function openPolrSql({ file, timeZone }: FileSettings): ImportSource {
  return openDumpSource(file, polr(timeZone))
}

const polr = (serverZone: string): DumpService => ({
  name: 'polr-sql',
  links: { suffix: 'links', columns: ['id', 'short_url', 'long_url', 'secret_key', 'is_disabled'] },
  toLink(row, at) {
    const ending = textOf(row, 'short_url')
    const secret = row.named.get('secret_key') ?? ''
    return linkRecord({
      ...at,
      ref: textOf(row, 'id'),
      // Polr answers only when the secret follows the ending.
      key: secret === '' ? ending : `${ending}/${secret}`,
      url: textOf(row, 'long_url'),
      closed: textOf(row, 'is_disabled') === '0' ? null : 'Disabled by an administrator of Polr.',
      created_at: getLocalInstant(row.named.get('created_at') ?? null, row.timeZone ?? serverZone),
      clicks: countOf(row, 'clicks'),
    })
  },
  clicks: { suffix: 'clicks', columns: ['link_id', 'ip', 'user_agent', 'created_at'] },
  toClick(row, resume) {
    const at = getLocalInstant(row.named.get('created_at') ?? null, row.timeZone ?? serverZone)
    if (at === null) throw new RefusedRow('created_at is not set.')
    return {
      kind: 'click',
      resume,
      ref: textOf(row, 'link_id'),
      at,
      address: row.named.get('ip') || null,
      user_agent: row.named.get('user_agent') ?? '',
      referrer: row.named.get('referer') ?? '',
      country: countryOf(row.named.get('country') ?? null),
      is_bot: false,
    }
  },
})
