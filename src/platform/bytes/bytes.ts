type TypedArray = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array

/** Returns a longer copy of an array of numbers. */
export function enlarge<T extends TypedArray>(array: T, length: number): T {
  const larger = new (array.constructor as new (length: number) => T)(length)
  larger.set(array)
  return larger
}

/** Reads bytes written by a `ByteWriter`. Throws a `RangeError` past the end. */
export class ByteReader {
  /** What is read. */
  readonly source: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get ended(): boolean {
    return this.#at >= this.source.length
  }

  /** The bytes that are left, as a view. */
  rest(): Buffer {
    return this.source.subarray(this.#at)
  }

  byte(): number {
    const value = this.source[this.#at]
    if (value === undefined) throw new RangeError('unexpected end of bytes')
    this.#at += 1
    return value
  }

  varint(): number {
    let value = 0
    for (let unit = 1; ; unit *= 128) {
      const byte = this.byte()
      value += (byte & 127) * unit
      if (byte < 128) return value
    }
  }

  /** Skips some integers, or bytes below 128, which are read alike. */
  skipVarints(count: number): void {
    // Locals, since charts skip a hundred million bytes here.
    const { source } = this
    let at = this.#at
    for (let left = count; left > 0; at += 1) {
      const byte = source[at]
      if (byte === undefined) throw new RangeError('unexpected end of bytes')
      if (byte < 128) left -= 1
    }
    this.#at = at
  }

  uint56(): number {
    const at = this.skip(7)
    return this.source.readUInt32LE(at) + this.source.readUIntLE(at + 4, 3) * 2 ** 32
  }

  shortText(): string {
    const length = this.byte()
    const at = this.skip(length)
    return this.source.toString('latin1', at, at + length)
  }

  /** Returns a view, not a copy. */
  bytes(length: number): Buffer {
    const at = this.skip(length)
    return this.source.subarray(at, at + length)
  }

  /** Skips some bytes, and returns the offset of the first one. */
  skip(count: number): number {
    const at = this.#at
    if (at + count > this.source.length) throw new RangeError('unexpected end of bytes')
    this.#at += count
    return at
  }
}

const INITIAL_BYTES = 1024

/** A byte buffer that grows as it is written. Numbers are little-endian. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Returns a copy of the written bytes and empties the buffer. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length))
    this.#length = 0
    return taken
  }

  /** Returns the written bytes themselves, until something is written again, and empties the buffer. */
  lend(): Buffer {
    const lent = this.#bytes.subarray(0, this.#length)
    this.#length = 0
    return lent
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#length] = value
    this.#length += 1
  }

  /** Writes an integer from 0 to 2^53 - 1: seven bits per byte, lowest first. */
  varint(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest >= 128) {
      this.#bytes[this.#length] = (rest % 128) | 128
      this.#length += 1
      rest = Math.floor(rest / 128)
    }
    this.#bytes[this.#length] = rest
    this.#length += 1
  }

  /** Writes an integer from 0 to 2^53 - 1 in seven bytes. */
  uint56(value: number): void {
    this.#reserve(7)
    this.#bytes.writeUInt32LE(value % 2 ** 32, this.#length)
    this.#bytes.writeUIntLE(Math.floor(value / 2 ** 32), this.#length + 4, 3)
    this.#length += 7
  }

  /** Writes a Latin-1 text of at most 255 characters, preceded by its length. */
  shortText(text: string): void {
    if (text.length > 255) throw new RangeError('the text is longer than 255 characters')
    this.#reserve(1 + text.length)
    let at = this.#length
    this.#bytes[at] = text.length
    for (let index = 0; index < text.length; index += 1) {
      at += 1
      this.#bytes[at] = text.charCodeAt(index)
    }
    this.#length = at + 1
  }

  bytes(source: Uint8Array): void {
    this.#reserve(source.length)
    this.#bytes.set(source, this.#length)
    this.#length += source.length
  }

  /** Writes a range of bytes; faster than `bytes` for a few of them. */
  copy(source: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start)
    for (let at = start; at < end; at += 1) {
      this.#bytes[this.#length] = source[at] ?? 0
      this.#length += 1
    }
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(2 * (this.#length + count))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
