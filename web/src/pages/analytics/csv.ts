import { csvLine } from '@terse/contract/csv'
import { saveFile } from '../../widgets/save-file.ts'

export type Cell = string | number | null

export function downloadCsv(name: string, rows: readonly (readonly Cell[])[]): void {
  const lines = rows.map((row) => csvLine(row.map((cell) => cell ?? '')))
  saveFile(new Blob(lines, { type: 'text/csv' }), `${name}.csv`)
}
