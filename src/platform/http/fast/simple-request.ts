import {
  parseHost,
  type RequestTarget,
  splitTarget,
  VISIT_HEADERS,
  type VisitHeader,
  type VisitHeaders,
} from '../request-target.ts'

/** A request that no two HTTP parsers read differently: a `GET` of a path in HTTP/1.1, without a body. */
export type SimpleRequest = {
  readonly target: RequestTarget
  readonly headers: VisitHeaders
}

type Field = {
  readonly name: Buffer
  readonly use: VisitHeader | 'host' | 'connection' | 'refused'
}

/** The headers that are read. Any other is skipped when it is well-formed. */
const FIELDS: readonly Field[] = (
  [
    ['host', 'host'],
    ['connection', 'connection'],
    ...VISIT_HEADERS.map((name) => [name, name] as const),
    ['content-length', 'refused'],
    ['transfer-encoding', 'refused'],
    ['expect', 'refused'],
    ['upgrade', 'refused'],
    // Node's parser treats it as another `Connection`.
    ['proxy-connection', 'refused'],
  ] as const
).map(([name, use]) => ({ name: Buffer.from(name), use }))

/** Indexed by length and first letter, which are unique among the fields. */
const FIELD_AT: readonly (Field | undefined)[] = fieldTable()

/** Larger requests, and those with more headers, are left to Node's own limits. */
const BYTES_MAX = 8 * 1024
const HEADERS_MAX = 100

const CR = 13
const LF = 10
const COLON = 58
const SPACE = 32
const TAB = 9
/** Setting this bit makes an ASCII letter lower-case, and turns no other character of a name into a letter. */
const LOWER_CASE = 0x20

const START = Buffer.from('GET /')
const VERSION = Buffer.from(' HTTP/1.1\r\n')
const END = Buffer.from('\r\n\r\n')
const KEEP_ALIVE = Buffer.from('keep-alive')

const TARGET = byteSet(/[\w\-.~!$&'()*+,;=:@%/?]/)
const NAME = byteSet(/[\w-]/)
const VALUE = byteSet(/[\t\x20-\x7e]/)

/**
 * Reads a request when the bytes are exactly one simple request; returns undefined for everything else,
 * which Node's own parser then judges. Undefined is the safe answer for anything unusual: when in doubt
 * about a new case, return undefined.
 *
 * Each string is decoded from the bytes separately: a substring of one long string would keep all of it
 * in memory for as long as a cache keeps the substring.
 */
export function readSimpleRequest(bytes: Buffer): SimpleRequest | undefined {
  const { length } = bytes
  if (length > BYTES_MAX || length < START.length + VERSION.length + END.length) return undefined
  // The bytes end with CR LF CR LF, so each loop below stops at a CR at the latest.
  if (!hasAt(bytes, length - END.length, END) || !hasAt(bytes, 0, START)) return undefined

  let at = START.length
  while (TARGET[bytes[at] as number] === 1) at += 1
  const targetEnd = at
  if (!hasAt(bytes, at, VERSION)) return undefined
  at += VERSION.length

  const headers = {
    cookie: undefined,
    'user-agent': undefined,
    referer: undefined,
    'accept-language': undefined,
    'sec-purpose': undefined,
    purpose: undefined,
    'x-purpose': undefined,
    'x-moz': undefined,
    'x-forwarded-for': undefined,
    'x-forwarded-proto': undefined,
  } satisfies VisitHeaders as { [Name in VisitHeader]: string | undefined }
  let host: string | undefined
  let hasConnection = false
  for (let count = 0; bytes[at] !== CR; count += 1) {
    const nameStart = at
    while (NAME[bytes[at] as number] === 1) at += 1
    const nameEnd = at
    if (nameEnd === nameStart || bytes[at] !== COLON || count === HEADERS_MAX) return undefined
    let start = at + 1
    while (isBlank(bytes[start])) start += 1
    at = start
    while (VALUE[bytes[at] as number] === 1) at += 1
    if (bytes[at] !== CR || bytes[at + 1] !== LF) return undefined
    let end = at
    while (end > start && isBlank(bytes[end - 1])) end -= 1
    at += 2

    const use = useOf(bytes, nameStart, nameEnd)
    if (use === undefined) continue
    // None of these may occur twice: Node treats repeated headers differently from one to the next.
    if (use === 'host') {
      if (host !== undefined) return undefined
      host = hostAt(bytes, start, end)
      if (host === undefined) return undefined
    } else if (use === 'connection') {
      if (hasConnection || !isName(bytes, start, end, KEEP_ALIVE)) return undefined
      hasConnection = true
    } else {
      if (use === 'refused' || headers[use] !== undefined) return undefined
      headers[use] = bytes.toString('latin1', start, end)
    }
  }
  if (host === undefined || at !== length - 2) return undefined
  const target = bytes.toString('latin1', START.length - 1, targetEnd)
  return { target: splitTarget(host, target), headers }
}

function useOf(bytes: Buffer, start: number, end: number): Field['use'] | undefined {
  const slot = slotOf(end - start, bytes[start] as number)
  const field = slot < FIELD_AT.length ? FIELD_AT[slot] : undefined
  return field !== undefined && isName(bytes, start, end, field.name) ? field.use : undefined
}

function slotOf(length: number, first: number): number {
  return (length << 5) | (first & 31)
}

function fieldTable(): (Field | undefined)[] {
  const slots = FIELDS.map(({ name }) => slotOf(name.length, name[0] as number))
  return Array.from({ length: Math.max(...slots) + 1 }, (_, slot) => FIELDS[slots.indexOf(slot)])
}

/** Whether the bytes are this name, ignoring case. @param name in lower case */
function isName(bytes: Buffer, start: number, end: number, name: Buffer): boolean {
  if (end - start !== name.length) return false
  for (let index = 0; index < name.length; index += 1) {
    if (((bytes[start + index] as number) | LOWER_CASE) !== name[index]) return false
  }
  return true
}

// Caches the last host, because the next request is nearly always for the same one.
let lastHeader = Buffer.alloc(0)
let lastHost: string | undefined

function hostAt(bytes: Buffer, start: number, end: number): string | undefined {
  if (end - start !== lastHeader.length || !hasAt(bytes, start, lastHeader)) {
    lastHeader = Buffer.from(bytes.subarray(start, end))
    lastHost = parseHost(lastHeader.toString('latin1'))
  }
  return lastHost
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB
}

function hasAt(bytes: Buffer, at: number, expected: Buffer): boolean {
  for (let index = 0; index < expected.length; index += 1) {
    if (bytes[at + index] !== expected[index]) return false
  }
  return true
}

/** A table with 1 for each byte whose character matches. */
function byteSet(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    byte < 128 && characters.test(String.fromCharCode(byte)) ? 1 : 0,
  )
}
