import { normalize } from './csv-columns.ts'
import type { CsvHeader, CsvRow } from './csv-rows.ts'

/** A column that may say that links are closed, limited or protected, with a value that shows it. */
export type ColumnDoubt = { readonly name: string; readonly value: string }

/** Headers that close or limit a link, or none, depending on the value. */
const DOUBTFUL_NAME =
  /activ|enabl|valid|visib|public|status|state|limit|max|pass(?:word|code|phrase)|^pin|secret|protect|private|restrict|until|deadline|start|^ends?/
/** Headers that say nothing of a link for which the value is no, zero or empty. */
const CLOSING_NAME =
  /disab|block|bann|suspend|paus|close|expir|lock|delet|trash|archiv|hidden|quarantin|revok/
const DENIED = /^(?:false|no|n|0|none|null|never|-)$/i
const CLOSING_VALUE =
  /^(?:disabled|inactive|expired|blocked|banned|suspended|paused|deactivated|closed|locked|protected|password[- ]protected|private|deleted|draft|unpublished|revoked|hidden|quarantined)$/i

/**
 * Returns the columns that no field has and that should not be skipped without a word: by their header or by a value.
 *
 * @param known columns with a field, and those that a person has dismissed
 * @param rows after the header; all are read
 */
export async function findDoubts(
  names: readonly string[],
  known: ReadonlySet<number>,
  rows: AsyncIterable<CsvHeader | CsvRow>,
): Promise<readonly ColumnDoubt[]> {
  const unknown = names.flatMap((name, at) => (known.has(at) ? [] : [{ at, name }]))
  const doubts = new Map<number, ColumnDoubt>()
  const columns = unknown.map(({ at, name }) => ({ at, name, isDoubted: doubtOf(name) }))
  if (columns.length === 0) return []
  for await (const row of rows) {
    if ('names' in row || row.fault !== undefined) continue
    for (const { at, name, isDoubted } of columns) {
      const value = (row.values[at] ?? '').trim()
      if (value === '' || doubts.has(at) || !isDoubted(value)) continue
      doubts.set(at, { name, value: value.slice(0, 40) })
    }
  }
  return [...doubts.values()]
}

/** Returns which values of a column with this header cast doubt. */
function doubtOf(name: string): (value: string) => boolean {
  const normalized = normalize(name)
  if (DOUBTFUL_NAME.test(normalized)) return () => true
  if (CLOSING_NAME.test(normalized)) return (value) => !DENIED.test(value)
  return (value) => CLOSING_VALUE.test(value)
}
