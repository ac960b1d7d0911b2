import type { ImportSource } from '../import-source.ts'
import type { FileSettings } from '../source-settings.ts'
import { countOf, type DumpService, openDumpSource, textOf } from './dump-source.ts'
import { KUTT_TABLES, toKuttCount, toKuttLink } from './kutt-rows.ts'
import { RefusedRow } from './refused-record.ts'
import { getLocalInstant } from './source-dates.ts'
import { type DumpTable, type NamedRow, readDumpRows } from './sql-dump/dump-rows.ts'

const [LINKS, VISITS, DOMAINS] = KUTT_TABLES.map(
  ({ name, columns }): DumpTable => ({ suffix: name, columns }),
) as [DumpTable, DumpTable, DumpTable]

/**
 * Opens a dump of Kutt's MySQL or MariaDB database.
 *
 * @param settings `timeZone` is that of the database server: Kutt has its dates in columns without a zone, which a dump
 *   shows as they are, whatever zone it sets
 */
export function openKuttSql({ file, timeZone }: FileSettings): ImportSource {
  return openDumpSource(file, kutt(file, timeZone))
}

function kutt(file: string, timeZone: string): DumpService {
  const domains = new Map<string, string>()
  const addresses = new Map<string, string>()
  const dateOf = (row: NamedRow, column: string): number | null => {
    const micros = getLocalInstant(row.named.get(column) ?? null, timeZone)
    return micros === null ? null : micros / 1_000
  }
  return {
    name: 'kutt-sql',
    async begin(signal) {
      for await (const row of readDumpRows(file, DOMAINS, { after: -1, signal })) {
        domains.set(row.named.get('id') ?? '', row.named.get('address') ?? '')
      }
      // Visits name their links by numbers alone.
      for await (const row of readDumpRows(file, LINKS, { after: -1, signal })) {
        addresses.set(row.named.get('id') ?? '', row.named.get('address') ?? '')
      }
    },
    links: LINKS,
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
    clicks: VISITS,
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
