import assert from 'node:assert/strict'
import type { LinkRecord } from '../../src/imports/import-source.ts'
import { formatSecond, importFixture, readTruth, type Truth } from './import-sources.ts'

/** When the data of the fixtures were made. */
const MADE_AT = Date.UTC(2026, 10, 22, 8, 30) * 1_000

/** What `truth.csv` says of a link, without its note. */
type TruthRow = Omit<Truth, 'note'>

/**
 * Fails unless the links are those of a service's truth: each row is first changed by `quirks`, which are the
 * differences that the service's documents explain.
 *
 * @param quirks a changed row, or undefined for one that the source does not give
 */
export function assertTruth(
  service: string,
  links: readonly LinkRecord[],
  options: {
    /** The source's own host, where links name none. */
    readonly ownHost?: string
    readonly quirks?: (row: Truth) => Truth | undefined
  } = {},
): void {
  const { ownHost = '', quirks = (row: Truth) => row } = options
  const expected = readTruth(importFixture(`${service}/truth.csv`)).flatMap((row) => {
    const changed = quirks(row)
    if (changed === undefined) return []
    const { note: _, ...rest } = changed
    return [rest]
  })
  const actual = links.map((link) => rowOf(link, ownHost))
  assert.deepEqual(sorted(actual), sorted(expected))
}

function rowOf(link: LinkRecord, ownHost: string): TruthRow {
  return {
    domain: link.domain ?? ownHost,
    key: link.key,
    url: link.url,
    created_at: inSeconds(link.created_at),
    clicks: link.clicks === null ? '' : String(link.clicks),
    last_click: inSeconds(link.last_click),
    state: stateOf(link),
  }
}

function inSeconds(micros: number | null): string {
  return formatSecond(micros === null ? null : Math.floor(micros / 1_000_000) * 1_000_000)
}

function stateOf({ closed, expires_at, options, protection }: LinkRecord): Truth['state'] {
  if (expires_at !== null && Number(expires_at) <= MADE_AT) return 'expired'
  const isAhead = options.active_from != null && Date.parse(options.active_from) * 1_000 > MADE_AT
  if (closed !== null || isAhead) return 'disabled'
  return protection.kind === 'none' ? 'active' : 'protected'
}

function sorted(rows: readonly TruthRow[]): readonly TruthRow[] {
  const nameOf = (row: TruthRow) => `${row.domain}/${row.key} ${row.url}`
  return rows.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}
