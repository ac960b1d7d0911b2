import { CLICK_DIMENSIONS } from '../../click.ts'
import type { ClickColumns } from '../../click-columns.ts'
import { startOfDay } from '../../tally/click-day.ts'
import type { OwnerOf } from '../batch-deltas.ts'
import type { NewRawClick } from '../raw-click-quota.ts'

/** Clicks to insert as one block. */
export type NewBlock = {
  /** Identifies the block (schema.ts). */
  readonly block: string
  readonly begunAtMicros: number
  readonly clicks: ClickColumns
  /** Of clicks whose links have owners. */
  readonly indexes: Uint32Array
  readonly ownerOf: OwnerOf
  /** Of the clicks that are kept for exports. */
  readonly rows: readonly NewRawClick[]
  /** The first day of which single clicks are kept, however old they are when they come. */
  readonly oldestDay: number
}

/** Keys of a dictionary follow in the column itself, and are all of it. */
const OWN_DICTIONARY = 2 ** 9 + 2 ** 10
const DICTIONARY_VERSION = 1
const BYTE_INDEXES = { bytes: 1, max: 2 ** 8, type: 0 }
const SHORT_INDEXES = { bytes: 2, max: 2 ** 16, type: 1 }
const LONG_INDEXES = { bytes: 4, max: 2 ** 32, type: 2 }
const WORD = 2 ** 32

/**
 * Encodes clicks as a block of `incoming_clicks` in ClickHouse's format Native
 * (https://clickhouse.com/docs/interfaces/formats/Native): by columns, with each text of a dimension once. Rows as JSON
 * would take five times as long, here and in the server.
 */
export function encodeBlock({ block, begunAtMicros, clicks, indexes, ...of }: NewBlock): Buffer {
  const rows = indexes.length
  const oldest = startOfDay(of.oldestDay)
  const writer = new BlockWriter(rows)
  const kept = new Float64Array(clicks.length)
  for (const { index, count } of of.rows) kept[index] = count
  const owners = Array.from(indexes, (index) => of.ownerOf(clicks.link_seq[index] ?? 0))
  writer.begin(11 + CLICK_DIMENSIONS.length)
  writer.texts('block', [block], new Uint32Array(rows))
  writer.integers('begun_at', "DateTime64(6, 'UTC')", () => begunAtMicros)
  writer.uuids('workspace', (row) => owners[row]?.workspace_id ?? '')
  writer.integers('link', 'UInt64', (row) => clicks.link_seq[indexes[row] ?? 0] ?? 0)
  writer.integers('kept', 'UInt64', (row) => kept[indexes[row] ?? 0] ?? 0)
  writer.bytes('is_old', (row) => ((clicks.at[indexes[row] ?? 0] ?? 0) < oldest ? 1 : 0))
  writer.integers('at', 'Int64', (row) => clicks.at[indexes[row] ?? 0] ?? 0)
  writer.integers('keyspace', 'UInt64', (row) => owners[row]?.keyspace_id ?? 0)
  writer.bytes('flags', (row) => clicks.flags[indexes[row] ?? 0] ?? 0)
  writer.integers('count', 'UInt64', (row) => clicks.count[indexes[row] ?? 0] ?? 0)
  writer.integers('visitor', 'UInt64', (row) => clicks.visitor[indexes[row] ?? 0] ?? 0)
  for (const [dimension, name] of CLICK_DIMENSIONS.entries()) {
    const values = clicks.values[dimension]
    const texts = Array.from(
      { length: values?.size ?? 0 },
      (_, number) => values?.textOf(number) ?? '',
    )
    const numbers = clicks.numbers[dimension] ?? new Uint32Array(0)
    writer.texts(
      name,
      texts,
      Uint32Array.from(indexes, (index) => numbers[index] ?? 0),
    )
  }
  return writer.end()
}

/** Writes the columns of a block, each by its name, its type and its values. */
class BlockWriter {
  readonly #rows: number
  #buffer = Buffer.alloc(1 << 20)
  #at = 0

  constructor(rows: number) {
    this.#rows = rows
  }

  begin(columns: number): void {
    this.#reserve(20)
    this.#varint(columns)
    this.#varint(this.#rows)
  }

  /** @param valueOf returns a safe integer */
  integers(name: string, type: string, ofRow: (row: number) => number): void {
    this.#header(name, type, 8 * this.#rows)
    for (let row = 0; row < this.#rows; row += 1) this.#integer(ofRow(row))
  }

  bytes(name: string, ofRow: (row: number) => number): void {
    this.#header(name, 'UInt8', this.#rows)
    for (let row = 0; row < this.#rows; row += 1) this.#buffer[this.#at++] = ofRow(row)
  }

  uuids(name: string, ofRow: (row: number) => string): void {
    this.#header(name, 'UUID', 16 * this.#rows)
    const encoded = new Map<string, Buffer>()
    for (let row = 0; row < this.#rows; row += 1) {
      this.#at += encoded.getOrInsertComputed(ofRow(row), encodeUuid).copy(this.#buffer, this.#at)
    }
  }

  /** @param numbers of the rows' texts in `dictionary` */
  texts(name: string, dictionary: readonly string[], numbers: Uint32Array): void {
    const { bytes, type } =
      [BYTE_INDEXES, SHORT_INDEXES].find(({ max }) => dictionary.length <= max) ?? LONG_INDEXES
    const keys = dictionary.map((text) => Buffer.from(text))
    const keyBytes = keys.reduce((sum, key) => sum + key.length + 5, 0)
    this.#header(name, 'LowCardinality(String)', keyBytes + bytes * this.#rows + 32)
    this.#integer(DICTIONARY_VERSION)
    this.#integer(OWN_DICTIONARY + type)
    this.#integer(keys.length)
    for (const key of keys) {
      this.#varint(key.length)
      this.#at += key.copy(this.#buffer, this.#at)
    }
    this.#integer(this.#rows)
    for (const number of numbers) this.#at = this.#buffer.writeUIntLE(number, this.#at, bytes)
  }

  end(): Buffer {
    return this.#buffer.subarray(0, this.#at)
  }

  #header(name: string, type: string, bytes: number): void {
    this.#reserve(name.length + type.length + 4 + bytes)
    for (const text of [name, type]) {
      this.#varint(text.length)
      this.#at += this.#buffer.write(text, this.#at, 'latin1')
    }
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return
    const larger = Buffer.alloc(2 * (this.#at + bytes))
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }

  #varint(value: number): void {
    let rest = value
    for (; rest > 127; rest = Math.floor(rest / 128)) this.#buffer[this.#at++] = (rest % 128) + 128
    this.#buffer[this.#at++] = rest
  }

  #integer(value: number): void {
    const high = Math.floor(value / WORD)
    this.#at = this.#buffer.writeUInt32LE(value - high * WORD, this.#at)
    this.#at = this.#buffer.writeInt32LE(high, this.#at)
  }
}

/** As two little-endian words of 8 bytes, the first half first. */
function encodeUuid(text: string): Buffer {
  const bytes = Buffer.from(text.replaceAll('-', ''), 'hex')
  if (bytes.length !== 16) throw new TypeError('this is no UUID')
  bytes.subarray(0, 8).reverse()
  bytes.subarray(8).reverse()
  return bytes
}
