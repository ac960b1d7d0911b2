/**
 * The records of a CSV text, parsed strictly by RFC 4180: every line ends with CRLF, and quotes occur only
 * where the grammar allows them.
 */
export function parseCsv(text: string): string[][] {
  const records: string[][] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y
  for (let record: string[] = []; cell.lastIndex < text.length; ) {
    const at = cell.lastIndex
    const match = cell.exec(text)
    if (match === null) throw new Error(`no CSV from here on: ${text.slice(at, at + 40)}`)
    record.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === ',') continue
    records.push(record)
    record = []
  }
  return records
}
