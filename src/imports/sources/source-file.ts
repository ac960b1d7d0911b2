import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { ImportSourceFault } from '../import-source.ts'

const CHUNK_BYTES = 256 * 1024
/** From this many bytes at its beginning, the encoding of a file is recognized. */
const HEAD_BYTES = 1_024

const ZIP_MAGIC = [0x50, 0x4b, 0x03, 0x04]
const COMPRESSED = [
  { name: 'gzip', magic: [0x1f, 0x8b] },
  { name: 'zip', magic: ZIP_MAGIC },
  { name: 'bzip2', magic: [0x42, 0x5a, 0x68] },
  { name: 'xz', magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a] },
  { name: 'Zstandard', magic: [0x28, 0xb5, 0x2f, 0xfd] },
]

type Encoding = {
  readonly name: 'utf-8' | 'utf-16le' | 'utf-16be'
  readonly markBytes: number
}

/** What else a file may be than the text that a source expects, by its first bytes. */
const FORMS = [
  { name: 'a SQLite database', pattern: /^SQLite format 3\0/ },
  { name: 'JSON', pattern: /^\s*[[{]/ },
  { name: 'a web page', pattern: /^\s*<(?:!doctype|html)/i },
  { name: 'CSV', pattern: /^(?!\s*(?:--|#|\/\*|[a-z]+ [^\n]*;))[^\n(]*[,;\t][^\n(]*(?:\r?\n|$)/i },
]

/** Returns what a file looks like that is no SQL; undefined for what may be SQL. */
export async function formInsteadOfSql(file: string): Promise<string | undefined> {
  const head = (await readHead(file)).toString('latin1').replace(/^\xef\xbb\xbf/, '')
  return FORMS.find(({ pattern }) => pattern.test(head))?.name
}

/** @throws {ImportSourceFault} when the file cannot be read, or is compressed */
export async function checkSourceFile(file: string): Promise<void> {
  const head = await readHead(file)
  const compressed = COMPRESSED.find(({ magic }) => magic.every((byte, at) => head[at] === byte))
  if (compressed !== undefined)
    throw new ImportSourceFault(
      `The file is compressed (${compressed.name}). Unpack it, then import what it contains.`,
      { isTransient: false },
    )
  if (head.length === 0) throw new ImportSourceFault('The file is empty.', { isTransient: false })
}

/** Whether a file begins as databases of SQLite do. */
export async function isSqlite(file: string): Promise<boolean> {
  return (await readHead(file)).toString('latin1').startsWith('SQLite format 3\0')
}

/** Whether a file begins as zips do. */
export async function isZip(file: string): Promise<boolean> {
  const head = await readHead(file)
  return ZIP_MAGIC.every((byte, at) => head[at] === byte)
}

/**
 * Reads a text file as UTF-8 without a byte order mark, as `decodeText` does.
 *
 * @throws {ImportSourceFault} when the file cannot be read
 */
export async function* readSourceFile(
  file: string,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, void> {
  try {
    yield* decodeText(createReadStream(file, { highWaterMark: CHUNK_BYTES, signal }))
  } catch (error) {
    signal.throwIfAborted()
    throw fileFault(error)
  }
}

/**
 * Passes text on as UTF-8 without a byte order mark. UTF-16 is recognized by the first chunk, with and without a mark;
 * bytes of any other encoding are passed on as they are.
 */
export async function* decodeText(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, void> {
  let encoding: Encoding | undefined
  let decoder: TextDecoder | undefined
  for await (const chunk of chunks) {
    let bytes = chunk
    if (encoding === undefined) {
      encoding = encodingOf(chunk.subarray(0, HEAD_BYTES))
      const { name, markBytes } = encoding
      if (name !== 'utf-8') decoder = new TextDecoder(name, { fatal: true })
      bytes = chunk.subarray(markBytes)
    }
    yield decoder === undefined ? bytes : Buffer.from(decoder.decode(bytes, { stream: true }))
  }
  if (decoder !== undefined) yield Buffer.from(decoder.decode())
}

async function readHead(file: string): Promise<Buffer> {
  try {
    const handle = await open(file)
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
      return buffer.subarray(0, bytesRead)
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw fileFault(error)
  }
}

function encodingOf(head: Buffer): Encoding {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf)
    return { name: 'utf-8', markBytes: 3 }
  if (head[0] === 0xff && head[1] === 0xfe) return { name: 'utf-16le', markBytes: 2 }
  if (head[0] === 0xfe && head[1] === 0xff) return { name: 'utf-16be', markBytes: 2 }
  const zeros = { even: 0, odd: 0 }
  for (const [at, byte] of head.entries()) if (byte === 0) zeros[at % 2 === 0 ? 'even' : 'odd'] += 1
  // Text in UTF-8 has no zeros; that of Latin letters in UTF-16 has one in most characters.
  if (zeros.odd > head.length / 4) return { name: 'utf-16le', markBytes: 0 }
  if (zeros.even > head.length / 4) return { name: 'utf-16be', markBytes: 0 }
  return { name: 'utf-8', markBytes: 0 }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'no permission',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'it is damaged UTF-16',
}

function fileFault(error: unknown): ImportSourceFault {
  const { code } = error as NodeJS.ErrnoException
  const reason = REASONS[code ?? ''] ?? code ?? 'unexpected error'
  return new ImportSourceFault(`The file cannot be read: ${reason}.`, {
    isTransient: false,
    cause: error,
  })
}

/** Nothing that a source writes in one line is longer. */
export const LINE_BYTES_MAX = 1024 * 1024
const NEWLINE = 0x0a

export type FileLine = {
  /** Undefined for a line of more than `LINE_BYTES_MAX`, which is skipped. */
  readonly text: string | undefined
  /** The first is 1. */
  readonly number: number
  /** The position after the line, in bytes. */
  readonly end: number
  /** Whether the file ends without the end of this line. */
  readonly isCutOff: boolean
}

/** Reads the lines of a file, from its bytes, without holding more than one in memory. */
export async function* readFileLines(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<FileLine, void, void> {
  const parts: Buffer[] = []
  let [bytes, number, end] = [0, 1, 0]
  const take = (isCutOff: boolean): FileLine => {
    const text = bytes > LINE_BYTES_MAX ? undefined : Buffer.concat(parts).toString('utf8')
    parts.length = 0
    bytes = 0
    return { text: text?.replace(/\r$/, ''), number: number++, end, isCutOff }
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      if (bytes <= LINE_BYTES_MAX) parts.push(chunk.subarray(from, at))
      bytes += at - from
      end += at + 1 - from
      from = at + 1
      yield take(false)
    }
    if (bytes <= LINE_BYTES_MAX) parts.push(chunk.subarray(from))
    bytes += chunk.length - from
    end += chunk.length - from
  }
  if (bytes > 0) yield take(true)
}
