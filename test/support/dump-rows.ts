import { DumpParser, type DumpRow } from '../../src/imports/sources/sql-dump/dump-parser.ts'

/** Creates the table of `rowsOf`. */
export const TABLE =
  "CREATE TABLE `t` (\n  `a` int,\n  `b` varchar(10) DEFAULT 'x,y',\n  KEY `b` (`b`)\n);\n"

/** Returns the rows of table `t` in a dump that is pushed in chunks of this many bytes. */
export function rowsOf(dump: string | Buffer, chunkBytes = 1_000_000): readonly DumpRow[] {
  const bytes = Buffer.from(dump)
  const parser = new DumpParser((table) => table === 't')
  const rows: DumpRow[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes)
    rows.push(...parser.push(bytes.subarray(at, at + chunkBytes)))
  parser.end()
  return rows
}

/** Returns the values of these rows, or their faults. */
export const valuesOf = (dump: string | Buffer, chunkBytes?: number) =>
  rowsOf(dump, chunkBytes).map(({ values, fault }) => fault ?? values)
