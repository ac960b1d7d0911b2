import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import type { LinkRecord } from '../../src/imports/import-source.ts'
import { openCsv } from '../../src/imports/sources/csv.ts'
import { temporaryFolder } from './temporary-folder.ts'

export type CsvOptions = {
  readonly map?: Record<string, string>
  readonly ignored?: readonly string[]
  readonly timeZone?: string
  readonly kind?: 'csv' | 'dub-csv'
}

/** Writes a file, and returns its path. */
export function writeCsv(t: TestContext, content: string | Buffer): string {
  const file = path.join(temporaryFolder(t), 'links.csv')
  writeFileSync(file, content)
  return file
}

/** Opens a source of a file with this content. */
export function openCsvText(t: TestContext, content: string | Buffer, options: CsvOptions = {}) {
  const { kind = 'csv', map = {}, ignored = [], timeZone = 'UTC' } = options
  return openCsv({ kind, file: writeCsv(t, content), map, ignored, timeZone })
}

/** Returns where links are, and lead. */
export const targetsOf = (links: readonly LinkRecord[]) =>
  links.map(({ domain, key, url }) => [domain, key, url])
/** A file with two links. */
export const PLAIN = 'key,url\na,https://example.com/a\nb,https://example.com/b\n'
/** Its links. */
export const PLAIN_TARGETS = [
  [null, 'a', 'https://example.com/a'],
  [null, 'b', 'https://example.com/b'],
]
