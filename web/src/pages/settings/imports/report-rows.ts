import { originalText } from '@terse/contract/csv'

/** A row of a report about which the person should know. */
export type ReportRow = {
  readonly number: string
  readonly place: string
  readonly oldLink: string
  readonly outcome: string
  readonly isLocked: boolean
  readonly isClosed: boolean
  readonly reason: string
}

/** Returns the first rows of a report that were not simply created. */
export function notableRows(csv: string, max: number): readonly ReportRow[] {
  const [header = [], ...lines] = parseCsv(csv)
  const at = (line: readonly string[], name: string) =>
    originalText(line[header.indexOf(name)] ?? '')
  return lines
    .map((line) => ({
      number: at(line, 'number'),
      place: at(line, 'place'),
      oldLink: at(line, 'old_link'),
      outcome: at(line, 'outcome'),
      isLocked: at(line, 'locked') === 'yes',
      isClosed: at(line, 'closed') === 'yes',
      reason: at(line, 'reason'),
    }))
    .filter(({ outcome, reason }) => outcome !== 'created' || reason !== '')
    .slice(0, max)
}

/** The hosts of the links that a report names, in the order of its rows. */
export function hostsOfLinks(csv: string): readonly string[] {
  const [header = [], ...lines] = parseCsv(csv)
  const at = header.indexOf('link')
  const links = lines.map((line) => originalText(line[at] ?? ''))
  return [...new Set(links.flatMap((link) => (URL.canParse(link) ? [new URL(link).host] : [])))]
}

/** The lines of a CSV as RFC 4180 describes it, which is how Terse writes it. */
export function parseCsv(text: string): readonly (readonly string[])[] {
  const lines: string[][] = []
  let line: string[] = []
  for (const [, quoted, plain = '', end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g,
  )) {
    line.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    if (line.length > 1 || line[0] !== '') lines.push(line)
    line = []
  }
  return lines
}
