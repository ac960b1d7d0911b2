/** The layout of a write-ahead log: https://sqlite.org/fileformat2.html#the_write_ahead_log */
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const SALTS_AT = { header: 16, frame: 8 }
const SALTS_BYTES = 8
/** The lowest bit of a log's first word says whether its checksums take words as big-endian. */
const MAGIC = 0x377f0682

/**
 * Counts the frames at the start of a write-ahead log whose checksums, each of which covers all frames before
 * it, are right. After a power failure, SQLite recovers these and no others.
 *
 * @param read returns the next `bytes` of the log, valid until the next call, or undefined at its end
 */
export function countSoundFrames(read: (bytes: number) => Buffer | undefined): number {
  const header = read(HEADER_BYTES)
  if (header === undefined) return 0
  const magic = header.readUInt32BE(0)
  if ((magic & ~1) >>> 0 !== MAGIC) return 0
  const sum = new Checksum((magic & 1) === 1)
  sum.add(header, 0, HEADER_BYTES - 8)
  if (!sum.equals(header, HEADER_BYTES - 8)) return 0
  const salts = Buffer.from(header.subarray(SALTS_AT.header, SALTS_AT.header + SALTS_BYTES))
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8)
  for (let count = 0; ; count += 1) {
    const frame = read(frameBytes)
    if (frame === undefined) return count
    if (!frame.subarray(SALTS_AT.frame, SALTS_AT.frame + SALTS_BYTES).equals(salts)) return count
    sum.add(frame, 0, 8)
    sum.add(frame, FRAME_HEADER_BYTES, frameBytes)
    if (!sum.equals(frame, FRAME_HEADER_BYTES - 8)) return count
  }
}

class Checksum {
  readonly #isBigEndian: boolean
  #first = 0
  #second = 0

  constructor(isBigEndian: boolean) {
    this.#isBigEndian = isBigEndian
  }

  add(bytes: Buffer, start: number, end: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const isLittle = !this.#isBigEndian
    let first = this.#first
    let second = this.#second
    for (let at = start; at < end; at += 8) {
      first = (first + view.getUint32(at, isLittle) + second) >>> 0
      second = (second + view.getUint32(at + 4, isLittle) + first) >>> 0
    }
    this.#first = first
    this.#second = second
  }

  equals(bytes: Buffer, at: number): boolean {
    return bytes.readUInt32BE(at) === this.#first && bytes.readUInt32BE(at + 4) === this.#second
  }
}
