import type { Import, ImportCounts } from '../import.ts'

const LINES: readonly (readonly [keyof ImportCounts, string])[] = [
  ['created', 'links created'],
  ['updated', 'links updated'],
  ['renamed', 'links created under another key'],
  ['skipped', 'rows skipped'],
  ['refused', 'rows refused'],
  ['domains', 'domains added'],
  ['utm_templates', 'UTM templates added'],
  ['locked', 'links with a random password'],
  ['closed', 'links that did not redirect, imported as expired'],
  ['clicks', 'clicks'],
  ['clicks_opening', 'clicks in opening balances'],
  ['clicks_left_out', 'clicks left out, of links that were not taken or at impossible times'],
]

/**
 * What an import has done, a line for each count that is not zero.
 *
 * @param unproved the domains on which its links do not work
 */
export function summaryOf(
  { counts, is_dry_run: isDryRun }: Import,
  unproved: readonly string[],
): string {
  const lines = LINES.filter(([name]) => counts[name] > 0).map(
    ([name, text]) => `${counts[name].toLocaleString('en-US').padStart(9)}  ${text}`,
  )
  const title = isDryRun === 1 ? ['Nothing was written. It would be:'] : []
  const done = lines.length === 0 ? ['There was nothing to import.'] : lines
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
