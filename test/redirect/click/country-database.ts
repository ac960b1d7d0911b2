import { writeFileSync } from 'node:fs'

/**
 * Writes a database in MaxMind’s format (MaxMind DB File Format Specification 2.0) with one node, which
 * has the same entry for every IPv4 address.
 */
export function writeCountryDatabase(file: string, entry: object, type = 'test'): void {
  const nodeCount = 1
  // Both branches lead to the entry at the start of the data section, 16 bytes after the tree.
  const pointer = Buffer.from([0, 0, nodeCount + 16])
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 0,
    database_type: type,
    description: {},
    ip_version: 4,
    languages: [],
    node_count: nodeCount,
    record_size: 24,
  })
  writeFileSync(
    file,
    Buffer.concat([
      pointer,
      pointer,
      Buffer.alloc(16),
      encode(entry),
      Buffer.from('\u00ab\u00cd\u00efMaxMind.com', 'latin1'),
      metadata,
    ]),
  )
}

const TYPES = { string: 2, number: 6, object: 7 } as const

function encode(value: unknown): Buffer {
  if (typeof value === 'string') {
    return Buffer.concat([control(TYPES.string, Buffer.byteLength(value)), Buffer.from(value)])
  }
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([control(TYPES.number, 4), bytes])
  }
  // An array has an extended type, in a byte of its own.
  if (Array.isArray(value)) {
    return Buffer.concat([Buffer.from([value.length, 4]), ...value.map(encode)])
  }
  const pairs = Object.entries(value as object)
  return Buffer.concat([
    control(TYPES.object, pairs.length),
    ...pairs.flatMap(([key, inner]) => [encode(key), encode(inner)]),
  ])
}

/** A control byte; a size of 29 or more takes a second byte. */
function control(type: number, size: number): Buffer {
  return size < 29 ? Buffer.from([(type << 5) | size]) : Buffer.from([(type << 5) | 29, size - 29])
}
