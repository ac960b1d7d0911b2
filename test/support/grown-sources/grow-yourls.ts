import { readFileSync, writeFileSync } from 'node:fs'
import { importFixture } from '../import-sources.ts'
import { formatDate, type GrownLink, type Growth, randomFrom } from './grown-links.ts'
import { growFrom, writeTruth } from './grown-truth.ts'

const ROWS_PER_INSERT = 500
/** Click ids of the fixture are below. */
const FIRST_CLICK = 10_000
const AGENTS = [
  'Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Safari/537.36',
  '-',
]
const REFERRERS = [
  'direct',
  'direct',
  'https://news.example.com/story?id=7#top',
  "http://blog.example.test/it's",
  '',
]
const COUNTRIES = ['DE', 'US', 'JP', '', 'XX']

/** Grows a dump of YOURLS. YOURLS knows neither passwords nor expiry: all links are active. */
export function growYourls(file: string, truthFile: string, growth: Growth): void {
  const links = growFrom('yourls', growth)
  const random = randomFrom(growth.seed + 1)
  const pick = (values: readonly string[]) => values[Math.floor(random() * values.length)] ?? ''
  const clicks = links
    .flatMap(({ key, clicks: seconds }) => seconds.map((second) => ({ key, second })))
    .sort((a, b) => a.second - b.second)
  const log = clicks.map(({ key, second }, at) => {
    const values = [
      formatDate(second),
      key,
      pick(REFERRERS),
      pick(AGENTS),
      addressOf(random),
      pick(COUNTRIES),
    ]
    return `(${FIRST_CLICK + at},${values.map(quote).join(',')})`
  })
  const urls = links.map(urlRow)
  const dump = readFileSync(importFixture('yourls/yourls.sql'), 'utf8')
  writeFileSync(file, addRows(addRows(dump, 'yourls_log', log), 'yourls_url', urls))
  writeTruth('yourls', truthFile, links, () => ({
    ...{ domain: 'yourls.example.com', state: 'active' as const },
    hasClicks: true,
  }))
}

function urlRow({ key, url, createdAt, clicks }: GrownLink): string {
  const values = [key, url, `Title of ${key}`, formatDate(createdAt), '203.0.113.5']
  return `(${values.map(quote).join(',')},${clicks.length})`
}

function addressOf(random: () => number): string {
  return random() < 0.3
    ? `2001:db8:${Math.floor(random() * 65_536).toString(16)}::1`
    : `192.0.2.${Math.floor(random() * 256)}`
}

const ESCAPES: Readonly<Record<string, string>> = {
  "'": "\\'",
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
}

/** As mysqldump writes text. */
function quote(text: string): string {
  return `'${text.replace(/['"\\\n]/g, (character) => ESCAPES[character] ?? character)}'`
}

/** Adds rows behind those that a table has. */
function addRows(dump: string, table: string, rows: readonly string[]): string {
  const mark = `/*!40000 ALTER TABLE \`${table}\` ENABLE KEYS */;`
  const inserts: string[] = []
  for (let at = 0; at < rows.length; at += ROWS_PER_INSERT)
    inserts.push(
      `INSERT INTO \`${table}\` VALUES\n${rows.slice(at, at + ROWS_PER_INSERT).join(',\n')};\n`,
    )
  const [before, after] = dump.split(mark)
  if (after === undefined) throw new Error(`the dump has no ${table}`)
  return [before, inserts.join(''), mark, after].join('')
}
