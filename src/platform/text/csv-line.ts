/**
 * The first characters of a cell that a spreadsheet would run as a formula. The apostrophe is one of them, so
 * that a reader gets every cell back by removing one leading apostrophe.
 */
const FORMULA = /^[=+\-@\t\r']/
const NEEDS_QUOTES = /[",\r\n]/

/** Formats a line of RFC 4180, in which no cell is a formula for a spreadsheet. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text
  return NEEDS_QUOTES.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
