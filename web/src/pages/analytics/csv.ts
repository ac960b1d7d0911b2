import { saveFile } from '../../widgets/save-file.ts'

/** The first characters of a cell that a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/
const NEEDS_QUOTES = /[",\r\n]/

export type Cell = string | number | null

/** Formats lines of RFC 4180. Text of visitors and link owners cannot become a formula. */
export function formatCsv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(formatCell).join(',')}\r\n`).join('')
}

function formatCell(cell: Cell): string {
  if (typeof cell === 'number') return String(cell)
  const text = cell ?? ''
  const harmless = FORMULA.test(text) ? `'${text}` : text
  return NEEDS_QUOTES.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

export function downloadCsv(name: string, rows: readonly (readonly Cell[])[]): void {
  saveFile(new Blob([formatCsv(rows)], { type: 'text/csv' }), `${name}.csv`)
}
