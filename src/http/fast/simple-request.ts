import { parseHost, type RequestTarget, splitTarget } from '../../lib/request-target.ts'

/** A request that every HTTP parser reads alike: a `GET` of a path in HTTP/1.1, without a body. */
export type SimpleRequest = {
  readonly target: RequestTarget
  readonly headers: SimpleHeaders
}

/** The headers that an answer may depend on. What is not among them is checked, and left. */
export type SimpleHeaders = { -readonly [Name in KeptHeader]: string | undefined }

type KeptHeader =
  | 'host'
  | 'connection'
  | 'cookie'
  | 'user-agent'
  | 'referer'
  | 'accept-language'
  | 'sec-purpose'
  | 'purpose'
  | 'x-purpose'
  | 'x-moz'
  | 'x-forwarded-for'

/** Kept by each request, or (undefined) the mark of one that is not simple. */
const FIELDS: Readonly<Record<string, KeptHeader | undefined>> = {
  host: 'host',
  connection: 'connection',
  cookie: 'cookie',
  'user-agent': 'user-agent',
  referer: 'referer',
  'accept-language': 'accept-language',
  'sec-purpose': 'sec-purpose',
  purpose: 'purpose',
  'x-purpose': 'x-purpose',
  'x-moz': 'x-moz',
  'x-forwarded-for': 'x-forwarded-for',
  'content-length': undefined,
  'transfer-encoding': undefined,
  expect: undefined,
  upgrade: undefined,
  // Node's parser takes it for another `Connection`.
  'proxy-connection': undefined,
}

/** Above it, and above so many headers, Node's own limits have their say. */
const BYTES_MAX = 8 * 1024
const HEADERS_MAX = 100

const CR = 13
const LF = 10
const COLON = 58
const SPACE = 32
const TAB = 9
/** What makes an ASCII letter small; no other character of a name becomes a letter by it. */
const LOWER_CASE = 0x20

const START = Buffer.from('GET /')
const VERSION = Buffer.from(' HTTP/1.1\r\n')
const END = Buffer.from('\r\n\r\n')

const TARGET = byteSet(/[\w\-.~!$&'()*+,;=:@%/?]/)
const NAME = byteSet(/[\w-]/)
const VALUE = byteSet(/[\t\x20-\x7e]/)

type Field = { readonly name: Buffer; readonly kept: KeptHeader | undefined }

/** By the length of their names. */
const FIELDS_BY_LENGTH: readonly (readonly Field[])[] = Array.from({ length: 32 }, (_, length) =>
  Object.entries(FIELDS)
    .filter(([name]) => name.length === length)
    .map(([name, kept]) => ({ name: Buffer.from(name), kept })),
)

/**
 * Reads a request where the bytes are one whole request, no more and no less, and as plain as nearly
 * all are; undefined for everything else, which is for Node's own parser to judge. That is the safe
 * answer to whatever is unusual, and so to whatever a later reader of this is unsure about.
 */
export function readSimpleRequest(bytes: Buffer): SimpleRequest | undefined {
  const { length } = bytes
  if (length > BYTES_MAX || length < START.length + VERSION.length + 2) return undefined
  // Ends with CR LF CR LF, so each of the loops below ends at a CR at the latest.
  if (!hasAt(bytes, length - END.length, END) || !hasAt(bytes, 0, START)) return undefined

  let at = START.length
  while (TARGET[bytes[at] as number] === 1) at += 1
  const targetEnd = at
  if (!hasAt(bytes, at, VERSION)) return undefined
  at += VERSION.length

  const text = bytes.toString('latin1')
  const headers: SimpleHeaders = {
    host: undefined,
    connection: undefined,
    cookie: undefined,
    'user-agent': undefined,
    referer: undefined,
    'accept-language': undefined,
    'sec-purpose': undefined,
    purpose: undefined,
    'x-purpose': undefined,
    'x-moz': undefined,
    'x-forwarded-for': undefined,
  }
  for (let count = 0; bytes[at] !== CR; count += 1) {
    const nameStart = at
    while (NAME[bytes[at] as number] === 1) at += 1
    const nameEnd = at
    if (nameEnd === nameStart || bytes[at] !== COLON) return undefined
    at += 1
    const valueStart = at
    while (VALUE[bytes[at] as number] === 1) at += 1
    if (bytes[at] !== CR || bytes[at + 1] !== LF || count === HEADERS_MAX) return undefined
    const field = fieldNamed(bytes, nameStart, nameEnd)
    if (field !== undefined) {
      const { kept } = field
      if (kept === undefined || headers[kept] !== undefined) return undefined
      headers[kept] = trimmed(bytes, text, valueStart, at)
    }
    at += 2
  }
  if (at !== length - 2) return undefined
  if (headers.host === undefined || !keepsAlive(headers.connection)) return undefined
  const host = parseHost(headers.host)
  if (host === undefined) return undefined
  return { target: splitTarget(host, text.substring(START.length - 1, targetEnd)), headers }
}

function keepsAlive(connection: string | undefined): boolean {
  return connection === undefined || connection.toLowerCase() === 'keep-alive'
}

function fieldNamed(bytes: Buffer, start: number, end: number): Field | undefined {
  const length = end - start
  const fields = length < FIELDS_BY_LENGTH.length ? FIELDS_BY_LENGTH[length] : undefined
  if (fields === undefined) return undefined
  for (const field of fields) {
    let index = 0
    while (index < length && ((bytes[start + index] as number) | LOWER_CASE) === field.name[index])
      index += 1
    if (index === length) return field
  }
  return undefined
}

/** A header's value without the spaces and tabs around it. */
function trimmed(bytes: Buffer, text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(bytes[start] as number)) start += 1
  while (start < end && isBlank(bytes[end - 1] as number)) end -= 1
  return text.substring(start, end)
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB
}

function hasAt(bytes: Buffer, at: number, expected: Buffer): boolean {
  for (let index = 0; index < expected.length; index += 1) {
    if (bytes[at + index] !== expected[index]) return false
  }
  return true
}

/** 1 for each byte whose character matches. */
function byteSet(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    byte < 128 && characters.test(String.fromCharCode(byte)) ? 1 : 0,
  )
}
