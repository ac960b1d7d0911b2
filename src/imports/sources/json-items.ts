import { isUtf8 } from 'node:buffer'
import { ImportSourceFault } from '../import-source.ts'

/** One element of the array, not yet parsed. */
export type JsonItem = {
  /** From 1. */
  readonly number: number
  /** Its beginning when it is too long. */
  readonly text: string
  /** Why it cannot be parsed, as a sentence. */
  readonly fault: string | undefined
}

/** An item, or any other member of the document that is returned, may have this many bytes. */
const VALUE_BYTES_MAX = 1024 * 1024
const SHOWN_BYTES = 2_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const SPACE = 0x20

/** What comes next between two values. */
type Expected =
  | 'document'
  | 'key'
  | 'colon'
  | 'member'
  | 'after member'
  | 'item'
  | 'after item'
  | 'end'

/** A value that is being read. Where it is: 0 outside of its own brackets. */
type Scan = { readonly start: number; depth: number; inString: boolean; isTooLong: boolean }

/**
 * Splits a JSON document with a large array into the array's elements, without parsing them. The document is the
 * array, or an object with it. It is pushed in chunks of UTF-8. Memory is bounded by 1 MiB, however long an element
 * is, and one that is no JSON is an item like others. @streamparser/json and stream-json bound no value and end at the
 * first fault; the former takes 1.7 times as long.
 */
export class JsonItems {
  readonly #arrayKey: string
  readonly #wanted: readonly string[]
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0
  #expected: Expected = 'document'
  #isBareArray = false
  #hasArray = false
  #scan: Scan | undefined
  #key = ''
  #head = ''
  #items: JsonItem[] = []
  #count = 0
  readonly #members = new Map<string, unknown>()

  /**
   * @param arrayKey of the array in the object
   * @param wanted keys of other members to return
   */
  constructor(arrayKey: string, wanted: readonly string[]) {
    this.#arrayKey = arrayKey
    this.#wanted = wanted
  }

  /** The wanted members, as far as they have been read. */
  get members(): ReadonlyMap<string, unknown> {
    return this.#members
  }

  /**
   * Returns the items that are complete with this chunk.
   *
   * @throws {ImportSourceFault} when the document cannot be JSON with such an array
   */
  push(chunk: Buffer): readonly JsonItem[] {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    while (this.#at < this.#bytes.length) {
      if (this.#scan === undefined) this.#readBetween()
      else {
        const end = this.#findEnd(this.#scan)
        if (end !== undefined) this.#endValue(this.#scan, end)
      }
    }
    this.#dropRead()
    const items = this.#items
    this.#items = []
    return items
  }

  /** @throws {ImportSourceFault} when the document ends early, or has no such array */
  end(): void {
    if (this.#expected === 'end' && this.#hasArray) return
    if (this.#expected === 'end') throw fault(`It has no list "${this.#arrayKey}".`)
    throw fault(`It is incomplete: it ends after ${this.#count} items. Export it again.`)
  }

  #readBetween(): void {
    const byte = this.#bytes[this.#at] ?? SPACE
    if (byte <= SPACE) {
      this.#at += 1
      return
    }
    const isValue =
      byte !== COMMA && byte !== COLON && byte !== CLOSE_ARRAY && byte !== CLOSE_OBJECT
    if (this.#expected === 'document') this.#beginDocument(byte)
    else if (this.#expected === 'colon' && byte === COLON) this.#next('member')
    else if (this.#expected === 'after member' && byte === COMMA) this.#next('key')
    else if (this.#expected === 'after item' && byte === COMMA) this.#next('item')
    else if (this.#closes(byte)) this.#close()
    else if (this.#expected === 'member' && this.#key === this.#arrayKey && byte === OPEN_ARRAY)
      this.#beginArray()
    else if (isValue && this.#expected !== 'end' && !this.#expected.startsWith('after')) {
      if (this.#expected === 'colon' || (this.#expected === 'key' && byte !== QUOTE))
        throw this.#unexpected()
      this.#scan = { start: this.#at, depth: 0, inString: false, isTooLong: false }
    } else throw this.#unexpected()
  }

  #beginDocument(byte: number): void {
    if (byte === OPEN_ARRAY) {
      this.#isBareArray = true
      this.#beginArray()
    } else if (byte === OPEN_OBJECT) this.#next('key')
    else throw fault('It is no JSON.')
  }

  #beginArray(): void {
    if (this.#hasArray) throw fault(`It has the list "${this.#arrayKey}" twice.`)
    this.#hasArray = true
    this.#next('item')
  }

  /** Whether the byte closes the array or the object that is open. */
  #closes(byte: number): boolean {
    const closing = this.#expected.endsWith('item') ? CLOSE_ARRAY : CLOSE_OBJECT
    return byte === closing && !['colon', 'member', 'end'].includes(this.#expected)
  }

  #close(): void {
    const isArray = this.#expected.endsWith('item')
    this.#next(isArray && !this.#isBareArray ? 'after member' : 'end')
  }

  #next(expected: Expected): void {
    this.#expected = expected
    this.#at += 1
  }

  /** Returns where the value ends; undefined, with all bytes read, when it does not yet. */
  #findEnd(scan: Scan): number | undefined {
    const bytes = this.#bytes
    for (; this.#at < bytes.length; this.#at += 1) {
      const byte = bytes[this.#at] ?? SPACE
      if (scan.inString) {
        if (byte === BACKSLASH) this.#at += 1
        else if (byte === QUOTE) {
          scan.inString = false
          if (scan.depth === 0) return this.#at + 1
        }
      } else if (byte === QUOTE) scan.inString = true
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) scan.depth += 1
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        // A bracket that closes what is around the value, such as `}` after a number.
        if (scan.depth === 0) return this.#at
        scan.depth -= 1
        if (scan.depth === 0) return this.#at + 1
      } else if (scan.depth === 0 && (byte === COMMA || byte === COLON || byte <= SPACE))
        return this.#at
    }
    return undefined
  }

  #endValue(scan: Scan, end: number): void {
    const bytes = this.#bytes.subarray(scan.start, end)
    const text = scan.isTooLong ? this.#head : bytes.toString('utf8')
    const fault = scan.isTooLong
      ? 'It is longer than 1 MiB.'
      : isUtf8(bytes)
        ? undefined
        : 'It is not in UTF-8.'
    this.#scan = undefined
    this.#at = end
    if (this.#expected === 'item') {
      this.#count += 1
      this.#items.push({ number: this.#count, text, fault })
      this.#expected = 'after item'
    } else if (this.#expected === 'key') {
      this.#key = String(this.#parse(text))
      this.#expected = 'colon'
    } else {
      const value = fault === undefined ? this.#parse(text) : undefined
      if (this.#wanted.includes(this.#key)) this.#members.set(this.#key, value)
      this.#expected = 'after member'
    }
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch {
      throw this.#unexpected()
    }
  }

  /** Keeps only the bytes of a value that is not complete, and of one that is too long only its head. */
  #dropRead(): void {
    // A backslash at the end of a chunk escapes the first byte of the next.
    const past = Math.max(0, this.#at - this.#bytes.length)
    const scan = this.#scan
    if (scan === undefined) {
      this.#bytes = Buffer.alloc(0)
      this.#at = past
      return
    }
    const start = scan.isTooLong ? this.#bytes.length : scan.start
    const rest = this.#bytes.subarray(start)
    if (rest.length > VALUE_BYTES_MAX) {
      this.#head = rest.toString('utf8', 0, SHOWN_BYTES)
      this.#scan = { ...scan, start: 0, isTooLong: true }
      this.#bytes = Buffer.alloc(0)
    } else {
      this.#scan = { ...scan, start: 0 }
      this.#bytes = rest
    }
    this.#at = this.#bytes.length + past
  }

  #unexpected(): ImportSourceFault {
    return fault(`It is no valid JSON after ${this.#count} items.`)
  }
}

function fault(message: string): ImportSourceFault {
  return new ImportSourceFault(`The file cannot be read. ${message}`, { isTransient: false })
}
