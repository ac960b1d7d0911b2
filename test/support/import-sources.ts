import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'csv-parse/sync'
import type {
  ClickCountRecord,
  ClickRecord,
  ImportRecord,
  ImportSource,
  LinkRecord,
  RefusedRecord,
} from '../../src/imports/import-source.ts'

/** A link as `truth.csv` has it. Dates are ISO 8601 in seconds; '' for none. */
export type Truth = {
  readonly domain: string
  readonly key: string
  readonly url: string
  readonly created_at: string
  readonly clicks: string
  readonly last_click: string
  readonly state: 'active' | 'protected' | 'expired' | 'disabled' | 'banned'
  readonly note: string
}

/** Returns the path of a file below `test/fixtures/imports/`. */
export function importFixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/imports/${name}`, import.meta.url))
}

export function readTruth(file: string): readonly Truth[] {
  const rows: Truth[] = parse(readFileSync(file), { columns: true, relax_column_count_less: true })
  // The last line of a file may lack its empty note.
  return rows.map((row) => ({ ...row, note: row.note ?? '' }))
}

/** Returns the records of a source, or those after a position. */
export async function readRecords(
  source: ImportSource,
  resume?: string,
): Promise<readonly ImportRecord[]> {
  return Array.fromAsync(source.read({ resume, signal: new AbortController().signal }))
}

export type Sorted = {
  readonly links: readonly LinkRecord[]
  readonly clicks: readonly ClickRecord[]
  readonly counts: readonly ClickCountRecord[]
  readonly refused: readonly RefusedRecord[]
}

/** Returns the records of a source by their kinds. */
export async function readSorted(source: ImportSource): Promise<Sorted> {
  const records = await readRecords(source)
  const kind = <K extends ImportRecord['kind']>(name: K) =>
    records.filter((record): record is Extract<ImportRecord, { kind: K }> => record.kind === name)
  return {
    links: kind('link'),
    clicks: kind('click'),
    counts: kind('count'),
    refused: kind('refused'),
  }
}

/** Fails unless reading from each of some positions gives exactly the records after it. */
export async function assertResumes(source: ImportSource, positions = 40): Promise<void> {
  const all = await readRecords(source)
  const step = Math.max(1, Math.floor(all.length / positions))
  for (let at = 0; at < all.length; at += at + step < all.length ? step : 1) {
    const rest = await readRecords(source, all[at]?.resume)
    assert.deepEqual(rest, all.slice(at + 1), `resumed after record ${at}`)
  }
}

/** Returns microseconds as `truth.csv` writes them; '' for null. */
export function formatSecond(micros: number | string | null): string {
  if (micros === null) return ''
  return new Date(Number(micros) / 1_000).toISOString().replace('.000Z', 'Z')
}
