import { randomBytes, randomUUID } from 'node:crypto'
import { createWriteStream, mkdirSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip, createZstdCompress, createZstdDecompress } from 'node:zlib'

/**
 * ClickHouse's HTTP interface over its engine in this process, as far as the client of Terse uses it: parameters and
 * settings in the URL, inserted rows in the body, compression, errors with their code, and results that are sent while
 * they are computed. Started by `server.ts`: its arguments are the engine's module, the folder of the data and the port.
 */

type Connection = { readonly connection: unique symbol }
type Stream = { readonly stream: unique symbol }

/** What chDB's native module offers. */
type Engine = {
  CreateConnection(folder: string): Connection
  CloseConnection(connection: Connection): void
  /** Blocks this thread. */
  QueryWithConnection(connection: Connection, sql: string, format: string): string
  QueryAsyncConnection(
    connection: Connection,
    sql: string,
    format: string,
  ): Promise<{ readonly bytes: Buffer }>
  StreamQuery(connection: Connection, sql: string, format: string): Stream
  StreamFetch(stream: Stream): Promise<{ readonly done: boolean; readonly bytes: Buffer }>
  StreamCancel(stream: Stream): void
}

const [, , module = '', folder = '', port = '0'] = process.argv
/** Unset: every user may connect. */
const { CLICKHOUSE_USER: user, CLICKHOUSE_PASSWORD: password } = process.env

const engine: Engine = createRequire(import.meta.url)(module)
const uploads = path.join(folder, 'uploads')
mkdirSync(uploads, { recursive: true })
const data = path.join(folder, 'data')
/** Keeps the engine running between requests. */
const first = engine.CreateConnection(data)

/** Parameters of the URL that are no settings. */
const OWN = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'session_id',
  'role',
  'wait_end_of_query',
])
const DEFAULT_FORMAT = 'TabSeparated'
/** Parts of their results put together are their result, so the parts can be sent as they come. */
const STREAMED = new Set([
  'jsoneachrow',
  'jsoncompacteachrow',
  'jsonstringseachrow',
  'tabseparated',
  'tsv',
  'csv',
  'rowbinary',
  'native',
])
/** Text and comments, in which nothing has a meaning. */
const OPAQUE = /'(?:''|\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|--[^\n]*|\/\*.*?\*\//gs
const INSERT_OF_BODY = /^(\s*insert\s+into\s.+?)((?:\s+settings\s.+?)?\s+format\s+\w+\s*;?\s*)$/is
const FORMAT = /\sformat\s+(\w+)\s*(?:settings\s[^;]*)?;?\s*$/i

const compressors: Readonly<Record<string, () => Duplex>> = {
  gzip: () => createGzip({ level: 1 }),
  zstd: createZstdCompress,
}
const decompressors: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  zstd: createZstdDecompress,
}

/** An error that ClickHouse answers with a code. */
class Refusal extends Error {
  constructor(code: number, message: string, name: string) {
    super(`Code: ${code}. DB::Exception: ${message}. (${name})`)
  }
}

/** As the server maps them, as far as it matters which of these it is. */
const STATUSES: Readonly<Record<string, number>> = {
  46: 404,
  47: 404,
  60: 404,
  62: 400,
  81: 404,
  115: 404,
  159: 408,
  192: 403,
  193: 403,
  497: 403,
  516: 403,
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    if (response.headersSent) response.destroy()
    else sendError(response, error)
  })
})

function sendError(response: ServerResponse, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  const code = /Code: (\d+)/.exec(message)?.[1] ?? '1002'
  response.writeHead(STATUSES[code] ?? 500, {
    'Content-Type': 'text/plain; charset=UTF-8',
    'X-ClickHouse-Exception-Code': code,
  })
  response.end(`${message.replace(/^Query failed: /, '')} (version ${engineVersion})\n`)
}

const engineVersion = engine.QueryWithConnection(first, 'select version()', DEFAULT_FORMAT).trim()

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  if (pathname === '/ping') {
    response.end('Ok.\n')
    return
  }
  authenticate(request)
  const upload = path.join(uploads, randomUUID())
  try {
    await execute(await readQuery(request, searchParams, upload), searchParams, request, response)
  } finally {
    rmSync(upload, { force: true })
  }
}

function authenticate({ headers }: IncomingMessage): void {
  if (user === undefined) return
  const basic = /^Basic (.*)$/.exec(headers.authorization ?? '')?.[1]
  const given =
    basic === undefined
      ? `${headers['x-clickhouse-user'] ?? 'default'}:${headers['x-clickhouse-key'] ?? ''}`
      : Buffer.from(basic, 'base64').toString()
  if (given === `${user}:${password ?? ''}`) return
  const name = given.slice(0, given.indexOf(':'))
  const text = `${name}: Authentication failed: password is incorrect, or there is no user with such name`
  throw new Refusal(516, text, 'AUTHENTICATION_FAILED')
}

/** Returns the statement. Rows to insert are written to a file, which the statement then names. */
async function readQuery(
  request: IncomingMessage,
  searchParams: URLSearchParams,
  upload: string,
): Promise<string> {
  const query = searchParams.get('query') ?? ''
  const decompress = decompressors[request.headers['content-encoding'] ?? '']
  const body = decompress === undefined ? request : request.pipe(decompress())
  const [, into, format] = INSERT_OF_BODY.exec(query) ?? []
  if (into === undefined) {
    const sql = query + (await readText(body, request, searchParams))
    if (/;\s*\S/.test(sql.replace(OPAQUE, ' '))) {
      throw new Refusal(62, 'Syntax error (Multi-statements are not allowed)', 'SYNTAX_ERROR')
    }
    return sql
  }
  await pipeline(body, createWriteStream(upload))
  return `${into} from infile ${quote(upload)}${format}`
}

/** Returns the text of a body. Of a form, that is its query; its other fields are added to the parameters. */
async function readText(
  body: Readable,
  { headers }: IncomingMessage,
  searchParams: URLSearchParams,
): Promise<string> {
  const bytes = await buffer(body)
  const type = headers['content-type'] ?? ''
  if (!type.startsWith('multipart/form-data')) return bytes.toString()
  const form = await new Response(bytes, { headers: { 'Content-Type': type } }).formData()
  for (const [name, value] of form) {
    if (name !== 'query') searchParams.set(name, String(value))
  }
  return String(form.get('query'))
}

async function execute(
  sql: string,
  searchParams: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Nothing of a request's settings and parameters may stay for the next one.
  const connection = engine.CreateConnection(data)
  try {
    const set = (statement: string) =>
      engine.QueryWithConnection(connection, statement, DEFAULT_FORMAT)
    const settings = [...searchParams].filter(([name]) => !OWN.has(name))
    if (settings.length > 0) {
      set(`set ${settings.map(([name, value]) => `${name} = ${quote(value)}`).join(', ')}`)
    }
    const database = searchParams.get('database')
    if (database) set(`use \`${database}\``)
    const format = searchParams.get('default_format') ?? DEFAULT_FORMAT
    const isStreamed =
      searchParams.get('wait_end_of_query') !== '1' &&
      STREAMED.has((FORMAT.exec(sql)?.[1] ?? format).toLowerCase())
    const parts =
      isStreamed && /^\s*(?:select|with)\s/i.test(sql)
        ? await startStream(connection, sql, format)
        : [(await engine.QueryAsyncConnection(connection, sql, format)).bytes]
    response.setHeader('X-ClickHouse-Query-Id', searchParams.get('query_id') ?? randomUUID())
    response.setHeader('X-ClickHouse-Exception-Tag', exceptionTag)
    const isCompressed = searchParams.get('enable_http_compression') === '1'
    const encoding = isCompressed ? acceptedEncoding(request) : undefined
    if (encoding !== undefined) response.setHeader('Content-Encoding', encoding)
    const compress = compressors[encoding ?? '']
    await pipeline([parts, ...(compress ? [compress()] : []), response])
  } finally {
    engine.CloseConnection(connection)
  }
}

/** Marks an error in a result of which parts are sent. */
const exceptionTag = randomBytes(8).toString('hex')

function acceptedEncoding({ headers }: IncomingMessage): string | undefined {
  const accepted = headers['accept-encoding']?.toString() ?? ''
  return Object.keys(compressors).find((name) => accepted.includes(name))
}

/** Waits for the first part, so that what fails before it is answered with its status. */
async function startStream(connection: Connection, sql: string, format: string) {
  const stream = engine.StreamQuery(connection, sql, format)
  let next = await engine.StreamFetch(stream).catch((error) => {
    engine.StreamCancel(stream)
    throw error
  })
  return (async function* () {
    try {
      for (; !next.done; next = await engine.StreamFetch(stream)) yield next.bytes
    } catch (error) {
      const message = `${error instanceof Error ? error.message : String(error)}\n`
      const end = `${Buffer.byteLength(message)} ${exceptionTag}\r\n__exception__\r\n`
      yield Buffer.from(`\r\n__exception__\r\n${exceptionTag}\n${message}${end}`)
    } finally {
      engine.StreamCancel(stream)
    }
  })()
}

function quote(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`
}

process.once('SIGTERM', () => {
  server.close(() => {
    engine.CloseConnection(first)
    process.exit()
  })
  server.closeIdleConnections()
})
// The end of the process that started this one ends it as well.
process.once('disconnect', () => process.exit())

server.listen(Number(port), '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port })
})
