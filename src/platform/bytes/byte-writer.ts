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
