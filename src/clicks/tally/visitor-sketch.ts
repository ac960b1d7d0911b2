import type { ByteReader, ByteWriter } from '../../platform/bytes/bytes.ts'
import { UNKNOWN_VISITOR } from '../click.ts'

/** Up to this count, visitors are stored individually; this many take about as many bytes as the registers. */
export const EXACT_VISITORS_MAX = 400

const INDEX_BITS = 12
const REGISTERS = 2 ** INDEX_BITS
/** The bits of a 53-bit hash that do not select the register. */
const RANK_BITS = 53 - INDEX_BITS
const REGISTER_BITS = 6
const ALPHA = 1 / (2 * Math.LN2)

const EXACT = 0
const ESTIMATED = 1
/** Added to the number of the form when visitors are unknown. */
const INCOMPLETE = 2

/**
 * Counts distinct visitors: exactly up to `EXACT_VISITORS_MAX`, above that with a HyperLogLog of 4,096
 * registers and a standard error of 1.6 %. The result does not depend on the order of additions and merges.
 *
 * Uses the improved raw estimator of O. Ertl, "New cardinality estimation algorithms for HyperLogLog
 * sketches" (arXiv:1702.01284), which needs neither tables nor thresholds.
 */
export class VisitorSketch {
  readonly #exact = new Set<number>()
  /** Undefined while visitors are counted exactly. */
  #registers: Uint8Array | undefined
  #isComplete = true

  /** @param visitor a uniformly distributed 53-bit hash, or `UNKNOWN_VISITOR` */
  add(visitor: number): void {
    if (visitor === UNKNOWN_VISITOR) this.#isComplete = false
    else if (this.#registers !== undefined) addTo(this.#registers, visitor)
    else if (this.#exact.add(visitor).size > EXACT_VISITORS_MAX) this.#estimate()
  }

  /** Null if some visitors are unknown. */
  count(): number | null {
    if (!this.#isComplete) return null
    return this.#registers === undefined
      ? this.#exact.size
      : Math.round(estimateOf(this.#registers))
  }

  /** Adds the visitors of another sketch. */
  merge(other: VisitorSketch): void {
    if (!other.#isComplete) this.#isComplete = false
    for (const visitor of other.#exact) this.add(visitor)
    if (other.#registers === undefined) return
    const registers = this.#estimate()
    for (const [index, rank] of other.#registers.entries()) raise(index, rank, registers)
  }

  write(writer: ByteWriter): void {
    const unknown = this.#isComplete ? 0 : INCOMPLETE
    if (this.#registers !== undefined) {
      writer.byte(ESTIMATED + unknown)
      writer.bytes(pack(this.#registers))
      return
    }
    writer.byte(EXACT + unknown)
    writer.varint(this.#exact.size)
    for (const visitor of this.#exact) writer.uint56(visitor)
  }

  /** Merges a sketch that `write` wrote. */
  read(reader: ByteReader): void {
    const form = reader.byte()
    if (form >= INCOMPLETE) this.#isComplete = false
    if (form % INCOMPLETE === EXACT) {
      for (let count = reader.varint(); count > 0; count -= 1) this.add(reader.uint56())
      return
    }
    const others = unpack(reader.bytes((REGISTERS * REGISTER_BITS) / 8))
    const registers = this.#estimate()
    for (const [index, rank] of others.entries()) raise(index, rank, registers)
  }

  /** Returns the registers, in which visitors are counted from now on. */
  #estimate(): Uint8Array {
    const registers = this.#registers ?? new Uint8Array(REGISTERS)
    this.#registers = registers
    for (const visitor of this.#exact) addTo(registers, visitor)
    this.#exact.clear()
    return registers
  }
}

function addTo(registers: Uint8Array, visitor: number): void {
  raise(visitor % REGISTERS, rankOf(Math.floor(visitor / REGISTERS)), registers)
}

function raise(index: number, rank: number, registers: Uint8Array): void {
  if (rank > (registers[index] ?? 0)) registers[index] = rank
}

/** Returns the position of the highest set bit among `RANK_BITS`, counted from the top, starting at 1. */
function rankOf(rest: number): number {
  const high = Math.floor(rest / 2 ** 32)
  const highBits = RANK_BITS - 32
  return high > 0 ? Math.clz32(high) - (32 - highBits) + 1 : highBits + Math.clz32(rest) + 1
}

function estimateOf(registers: Uint8Array): number {
  const counts = new Uint32Array(RANK_BITS + 2)
  for (const rank of registers) counts[rank] = (counts[rank] ?? 0) + 1
  let z = REGISTERS * tau(1 - (counts[RANK_BITS + 1] ?? 0) / REGISTERS)
  for (let rank = RANK_BITS; rank >= 1; rank -= 1) z = 0.5 * (z + (counts[rank] ?? 0))
  z += REGISTERS * sigma((counts[0] ?? 0) / REGISTERS)
  return (ALPHA * REGISTERS * REGISTERS) / z
}

function sigma(share: number): number {
  if (share === 1) return Number.POSITIVE_INFINITY
  let x = share
  let y = 1
  let z = share
  for (let before = Number.NaN; z !== before; y *= 2) {
    x *= x
    before = z
    z += x * y
  }
  return z
}

function tau(share: number): number {
  if (share === 0 || share === 1) return 0
  let x = share
  let y = 1
  let z = 1 - share
  for (let before = Number.NaN; z !== before; ) {
    x = Math.sqrt(x)
    before = z
    y *= 0.5
    z -= (1 - x) ** 2 * y
  }
  return z / 3
}

/** Packs four 6-bit registers into three bytes. */
function pack(registers: Uint8Array): Uint8Array {
  const packed = new Uint8Array((REGISTERS * REGISTER_BITS) / 8)
  for (let from = 0, to = 0; from < REGISTERS; from += 4, to += 3) {
    const [a = 0, b = 0, c = 0, d = 0] = registers.subarray(from, from + 4)
    packed[to] = a | (b << 6)
    packed[to + 1] = (b >> 2) | (c << 4)
    packed[to + 2] = (c >> 4) | (d << 2)
  }
  return packed
}

function unpack(packed: Uint8Array): Uint8Array {
  const registers = new Uint8Array(REGISTERS)
  for (let from = 0, to = 0; to < REGISTERS; from += 3, to += 4) {
    const bits =
      (packed[from] ?? 0) | ((packed[from + 1] ?? 0) << 8) | ((packed[from + 2] ?? 0) << 16)
    for (let index = 0; index < 4; index += 1) registers[to + index] = (bits >> (6 * index)) & 63
  }
  return registers
}
