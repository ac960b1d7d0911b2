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

  skipVarint(): void {
    while (this.byte() >= 128);
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
