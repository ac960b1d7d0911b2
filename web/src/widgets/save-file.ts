import { csvLine } from '@terse/contract/csv'

/** Longer than a browser takes to read what it saves. */
const READ_MS = 60_000

/** Saves a file that the page has made. */
export function saveFile(file: Blob, name: string): void {
  const anchor = document.createElement('a')
  anchor.href = URL.createObjectURL(file)
  anchor.download = name
  anchor.click()
  setTimeout(() => URL.revokeObjectURL(anchor.href), READ_MS)
}

export type Cell = string | number | null

export function downloadCsv(name: string, rows: readonly (readonly Cell[])[]): void {
  const lines = rows.map((row) => csvLine(row.map((cell) => cell ?? '')))
  saveFile(new Blob(lines, { type: 'text/csv' }), `${name}.csv`)
}
