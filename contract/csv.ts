// Loads no zod: the dashboard writes and reads CSV by the same rules.

/** A spreadsheet that takes these for the end of a cell begins a new one, which may be a formula, behind them. */
const CELL_START = '(?<=^|[;\\t\\r\\n])'
/** What a spreadsheet runs as a formula, in the locales that have them full-width signs too. */
const FORMULA = '[ \\u00a0\\u3000]*[=+\\-@＝＋－＠]|[\\t\\r]'

/** The apostrophe is marked too, so that a reader gets every cell back by removing the marks. */
const TO_MARK = new RegExp(`${CELL_START}(?=${FORMULA}|')`, 'g')
/** Other texts have nothing to mark: looking for places in each costs an export three times as much. */
const MAY_NEED_MARKS = /^[^0-9A-Za-z]|[;\t\r\n]/
const MARK = new RegExp(`${CELL_START}'`, 'g')
const FOREIGN_MARK = new RegExp(`${CELL_START}'(?=${FORMULA}|')`, 'g')

/**
 * Formats a line of RFC 4180, in which no text is a formula for a spreadsheet, whatever separator that expects. Every
 * cell is quoted.
 */
export function csvLine(cells: readonly (string | number)[]): string {
  return `${cells.map(formatCell).join(',')}\r\n`
}

function formatCell(cell: string | number): string {
  if (typeof cell === 'number') return `"${cell}"`
  const marked = MAY_NEED_MARKS.test(cell) ? cell.replace(TO_MARK, "'") : cell
  return `"${marked.includes('"') ? marked.replaceAll('"', '""') : marked}"`
}

/** Returns the text for which `csvLine` wrote a cell. */
export function originalText(cell: string): string {
  return cell.replace(MARK, '')
}

/** As `originalText`, for files of others: an apostrophe before anything else belongs to the text. */
export function likelyText(cell: string): string {
  return cell.replace(FOREIGN_MARK, '')
}
