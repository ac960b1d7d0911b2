import { type Import, type ImportCounts, REVIVAL } from '../import.ts'

const BAR_WIDTH = 30

/** How far an import is. Without a known total, there is no bar. */
export function progressText({ rows_done, links_expected, counts }: Import): string {
  const done = `${count(rows_done)} rows`
  const refused = counts.refused === 0 ? '' : `, ${count(counts.refused)} refused`
  const clicks = counts.clicks === 0 ? '' : `, ${count(counts.clicks)} clicks`
  if (links_expected === null || links_expected === 0) return `${done}${refused}${clicks}`
  const part = Math.min(1, rows_done / links_expected)
  const bar = '#'.repeat(Math.round(part * BAR_WIDTH)).padEnd(BAR_WIDTH, '.')
  const percent = `${Math.floor(part * 100)}`.padStart(3)
  return `[${bar}] ${percent} % ${count(rows_done)} of ${count(links_expected)} rows${refused}${clicks}`
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

const LINES: readonly (readonly [keyof ImportCounts, string])[] = [
  ['created', 'links created'],
  ['updated', 'links updated'],
  ['renamed', 'links created under another key'],
  ['skipped', 'rows skipped'],
  ['refused', 'rows refused'],
  ['domains', 'domains added'],
  ['utm_templates', 'UTM templates added'],
  ['rule_sets', 'rule sets added'],
  ['settings', 'settings of domains, labels and conversions taken over'],
  ['locked', 'links with a random password'],
  ['closed', 'links that did not redirect, imported as expired'],
  ['clicks', 'clicks'],
  ['clicks_opening', 'clicks in opening balances'],
  ['clicks_left_out', 'clicks left out, of links that were not taken or at impossible times'],
  ['conversions', 'conversions'],
  ['conversions_left_out', 'conversions left out, of links that were not taken or there before'],
]

/**
 * What an import has done, a line for each count that is not zero.
 *
 * @param unproved the domains on which its links do not work
 */
export function summaryOf(
  { counts, is_dry_run: isDryRun, source }: Pick<Import, 'counts' | 'is_dry_run' | 'source'>,
  unproved: readonly string[],
): string {
  const lines = LINES.filter(([name]) => counts[name] > 0).map(
    ([name, text]) => `${counts[name].toLocaleString('en-US').padStart(9)}  ${text}`,
  )
  const title = isDryRun === 1 ? ['Nothing was written. It would be:'] : []
  const verb = source === REVIVAL ? 'carry over' : 'import'
  const done = lines.length === 0 ? [`There was nothing to ${verb}.`] : lines
  return [...title, ...done, ...unprovedLines(unproved)].join('\n')
}

function unprovedLines(unproved: readonly string[]): readonly string[] {
  if (unproved.length === 0) return []
  return [
    '',
    'Links on these domains do not work until DNS proves them; terse domain check says what is missing:',
    ...unproved.map((host) => `  ${host}`),
  ]
}
