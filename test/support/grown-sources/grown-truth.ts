import { appendFileSync, copyFileSync, readFileSync } from 'node:fs'
import { importFixture, readTruth, type Truth } from '../import-sources.ts'
import { formatIso, type GrownLink, type Growth, growLinks } from './grown-links.ts'

/** Returns what has to be made up for a source to grow from its fixture to its size. */
export function growFrom(service: string, growth: Growth): readonly GrownLink[] {
  const truth = readTruth(importFixture(`${service}/truth.csv`))
  const clicks = truth.reduce((sum, row) => sum + Number(row.clicks), 0)
  return growLinks({
    ...growth,
    links: Math.max(0, growth.links - truth.length),
    clicks: Math.max(0, growth.clicks - clicks),
  })
}

/** Writes the fixture's `truth.csv` with a row for each link that was made up. */
export function writeTruth(
  service: string,
  file: string,
  links: readonly GrownLink[],
  describe: (link: GrownLink) => Pick<Truth, 'domain' | 'state'> & { readonly hasClicks: boolean },
): void {
  copyFileSync(importFixture(`${service}/truth.csv`), file)
  const rows = links.map((link) => {
    const { domain, state, hasClicks } = describe(link)
    const last = link.clicks.at(-1)
    const clicks = hasClicks
      ? [String(link.clicks.length), last === undefined ? '' : formatIso(last)]
      : ['', '']
    return [domain, link.key, link.url, formatIso(link.createdAt), ...clicks, state, 'grown']
  })
  const lines = rows.map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(','))
  const isEnded = readFileSync(file, 'utf8').endsWith('\n')
  appendFileSync(file, `${isEnded ? '' : '\n'}${lines.map((line) => `${line}\n`).join('')}`)
}
