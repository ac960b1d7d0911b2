import { type Cipheriv, createCipheriv, timingSafeEqual } from 'node:crypto'

const BLOCK_BYTES = 16
const BLOCK_WORDS = 4
/** Messages with more blocks get buffers of their own. */
const SCRATCH_BLOCKS_MAX = 32

/** Deterministic authenticated encryption: `AEAD_AES_SIV_CMAC_256` of RFC 5297. */
export type AesSiv = {
  /** Prepares the associated data of later calls: what both sides know, and no message contains. */
  bind(associated: Uint8Array): SivContext
  /**
   * Encrypts. Returns 16 bytes of tag, and the ciphertext. The same message gives the same bytes, so that nothing but this
   * equality is lost where a nonce within it repeats.
   */
  seal(context: SivContext, plain: Uint8Array): Buffer
  /** Decrypts. Undefined where the key or the context differs, or the bytes were altered. */
  open(context: SivContext, sealed: Uint8Array): Buffer | undefined
}

/** What depends on the associated data alone. */
export type SivContext = { readonly block: Block; readonly doubled: Block }

/** Bytes and words of the same memory, a whole number of blocks. */
type Block = { readonly bytes: Uint8Array; readonly words: Uint32Array }

/**
 * Needs two native calls a message: each of the two AES-128 keys is set up once, in a mode of OpenSSL that keeps nothing
 * between messages (ECB), or a block that the next message undoes (CBC). A cipher for each message, as AES-GCM-SIV needs,
 * takes three times as long.
 *
 * @param key 32 bytes, used for this purpose only
 */
export function aesSiv(key: Buffer): AesSiv {
  const half = key.length / 2
  const mac = new Cmac(key.subarray(0, half))
  const stream = new CounterStream(key.subarray(half))

  /** S2V with one string of associated data (section 2.4). */
  function tagOf(context: SivContext, plain: Uint8Array): Block {
    if (plain.length >= BLOCK_BYTES) return mac.of(plain, context.block)
    const padded = blocks(1)
    padded.bytes.set(plain)
    padded.bytes[plain.length] = 0x80
    return mac.of(padded.bytes, context.doubled)
  }

  return {
    bind(associated) {
      const block = doubled(mac.of(new Uint8Array(BLOCK_BYTES)))
      addBlock(block.words, mac.of(associated).words)
      return { block, doubled: doubled(block) }
    },
    seal(context, plain) {
      const tag = tagOf(context, plain)
      const sealed = Buffer.allocUnsafe(BLOCK_BYTES + plain.length)
      sealed.set(tag.bytes)
      stream.add(tag, plain, 0, sealed, BLOCK_BYTES)
      return sealed
    },
    open(context, sealed) {
      if (sealed.length < BLOCK_BYTES) return undefined
      const tag = blocks(1)
      tag.bytes.set(sealed.subarray(0, BLOCK_BYTES))
      const plain = Buffer.alloc(sealed.length - BLOCK_BYTES)
      stream.add(tag, sealed, BLOCK_BYTES, plain, 0)
      return timingSafeEqual(tagOf(context, plain).bytes, tag.bytes) ? plain : undefined
    },
  }
}

/** AES-CMAC (RFC 4493). */
class Cmac {
  /** Runs on over all messages. */
  readonly #chain: Cipheriv
  readonly #scratch = new Scratch()
  /** The block with which it would continue. */
  readonly #last = blocks(1)
  readonly #whole: Block
  readonly #padded: Block

  constructor(key: Uint8Array) {
    const zero = new Uint8Array(BLOCK_BYTES)
    this.#chain = createCipheriv('aes-128-cbc', key, zero).setAutoPadding(false)
    this.#whole = doubled(this.#next(blocks(1)))
    this.#padded = doubled(this.#whole)
  }

  /**
   * Returns the code of a message, in memory that the next call overwrites.
   *
   * @param end is added to the last 16 bytes of the message, which then has as many at least
   */
  of(message: Uint8Array, end?: Block): Block {
    const { length } = message
    const count = Math.max(1, Math.ceil(length / BLOCK_BYTES))
    const text = this.#scratch.of(count)
    const isWhole = length === count * BLOCK_BYTES
    // What an earlier message left is overwritten, or beyond the padding.
    text.words.fill(0, (count - 1) * BLOCK_WORDS)
    text.bytes.set(message)
    if (!isWhole) text.bytes[length] = 0x80
    if (end !== undefined) addBytes(text.bytes, length - BLOCK_BYTES, end.bytes)
    addBlock(text.words, (isWhole ? this.#whole : this.#padded).words, (count - 1) * BLOCK_WORDS)
    return this.#next(text)
  }

  #next(text: Block): Block {
    addBlock(text.words, this.#last.words)
    const chained = this.#chain.update(text.bytes)
    chained.copy(this.#last.bytes, 0, chained.length - BLOCK_BYTES)
    return this.#last
  }
}

/** AES in counter mode, which begins at the tag. */
class CounterStream {
  readonly #cipher: Cipheriv
  readonly #scratch = new Scratch()

  constructor(key: Uint8Array) {
    this.#cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false)
  }

  /** Encrypts, or decrypts, what `from` has from an offset on. */
  add(tag: Block, from: Uint8Array, fromOffset: number, to: Uint8Array, toOffset: number): void {
    const length = from.length - fromOffset
    const count = Math.ceil(length / BLOCK_BYTES)
    if (count === 0) return
    const counters = this.#scratch.of(count)
    for (let nth = 0; nth < count; nth += 1) {
      const at = nth * BLOCK_BYTES
      counters.words.set(tag.words, nth * BLOCK_WORDS)
      // Bits that the sum leaves out (section 2.5), so that it never carries beyond 64 bits.
      counters.bytes[at + 8] = (counters.bytes[at + 8] ?? 0) & 0x7f
      counters.bytes[at + 12] = (counters.bytes[at + 12] ?? 0) & 0x7f
      if (nth > 0) increase(counters.bytes, at, nth)
    }
    const key = this.#cipher.update(counters.bytes)
    for (let index = 0; index < length; index += 1) {
      to[toOffset + index] = (from[fromOffset + index] ?? 0) ^ (key[index] ?? 0)
    }
  }
}

/** Buffers that are used again for messages of the same number of blocks. */
class Scratch {
  readonly #bySize: (Block | undefined)[] = Array.from({ length: SCRATCH_BLOCKS_MAX })

  of(count: number): Block {
    const known = this.#bySize[count]
    if (known !== undefined) return known
    const made = blocks(count)
    if (count < SCRATCH_BLOCKS_MAX) this.#bySize[count] = made
    return made
  }
}

function blocks(count: number): Block {
  const words = new Uint32Array(count * BLOCK_WORDS)
  return { words, bytes: new Uint8Array(words.buffer) }
}

/** Adds, which is the same as subtracting, a block to the words from `at` on. */
function addBlock(to: Uint32Array, block: Uint32Array, at = 0): void {
  for (let index = 0; index < BLOCK_WORDS; index += 1) {
    to[at + index] = (to[at + index] ?? 0) ^ (block[index] ?? 0)
  }
}

/** The same where no word begins at `at`. */
function addBytes(to: Uint8Array, at: number, block: Uint8Array): void {
  for (let index = 0; index < BLOCK_BYTES; index += 1) {
    to[at + index] = (to[at + index] ?? 0) ^ (block[index] ?? 0)
  }
}

/** Multiplies a block by x in GF(2^128). */
function doubled({ bytes }: Block): Block {
  const twice = blocks(1)
  for (let index = 0; index < BLOCK_BYTES; index += 1) {
    twice.bytes[index] = ((bytes[index] ?? 0) << 1) | ((bytes[index + 1] ?? 0) >>> 7)
  }
  const last = BLOCK_BYTES - 1
  if ((bytes[0] ?? 0) >= 0x80) twice.bytes[last] = (twice.bytes[last] ?? 0) ^ 0x87
  return twice
}

/** Adds a number to the counter at `at`. */
function increase(bytes: Uint8Array, at: number, by: number): void {
  let carry = by
  for (let index = at + BLOCK_BYTES - 1; carry > 0; index -= 1) {
    const sum = (bytes[index] ?? 0) + carry
    bytes[index] = sum & 0xff
    carry = sum >>> 8
  }
}
