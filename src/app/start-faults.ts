import { existsSync, statfsSync } from 'node:fs'
import path from 'node:path'
import { isUnavailable } from '../platform/failure.ts'
import { hasErrorCode } from '../platform/process/has-error-code.ts'
import { terseCommand } from '../platform/process/terse-command.ts'
import { userName } from '../platform/process/user-name.ts'
import { secretKeyFile } from '../storage/instance-keys.ts'
import { parseDatabaseUrl } from '../storage/postgres/database-url.ts'
import { NoInstance } from '../storage/store.ts'
import type { Config } from './config/config.ts'
import {
  type ListeningPlace,
  type ListeningUse,
  listeningPlaces,
} from './processes/listening-sockets.ts'

type Where = Pick<Config, 'dataDir' | 'databaseUrl' | 'settingsFile'>

const NO_RIGHT = 'Give that user the right to read and write the folder and its files.'
/** Result codes of SQLite without what extends them (https://sqlite.org/rescode.html). */
const SQLITE_IOERR = 10
const SQLITE_FULL = 13
/** Opening both databases takes somewhat less: their shared memory, and the pages that mark the run. */
const ROOM_TO_OPEN_BYTES = 128 * 1024
/** What to do about them. */
const SQLITE_ADVICE: ReadonlyMap<number, string> = new Map([
  [5, 'Another program has locked it: stop that program.'],
  [8, NO_RIGHT],
  [SQLITE_IOERR, 'Check the disk.'],
  [11, 'Restore a backup.'],
  [SQLITE_FULL, 'Make room on the disk.'],
  [14, NO_RIGHT],
  [26, 'Restore a backup.'],
])

/** What to do about error codes of PostgreSQL. */
const POSTGRES_ADVICE: ReadonlyMap<unknown, string> = new Map([
  ['28P01', 'Correct the password in TERSE_DATABASE_URL.'],
  ['28000', 'Correct the user in TERSE_DATABASE_URL, or let it in by pg_hba.conf.'],
  ['3D000', 'Create the database, or correct its name in TERSE_DATABASE_URL.'],
  ['42501', 'Make the user of TERSE_DATABASE_URL the owner of the database.'],
  ['25006', 'Name the primary server in TERSE_DATABASE_URL, or all servers, separated by commas.'],
  ['53300', 'Raise max_connections, or stop other clients.'],
  ['57P03', 'Try again when the server has started.'],
])
const POSTGRES_ADVICE_ELSE = 'Check that the server runs, and TERSE_DATABASE_URL.'

/** Explains why an instance could not be opened, in one line with what to do about it. */
export function instanceFault(where: Where, error: unknown): unknown {
  if (error instanceof NoInstance) return new Error(noInstanceText(where))
  if (!isUnavailable(error) && codeOf(error) !== '42501') return error
  const cause = error instanceof Error && isUnavailable(error) ? error.cause : error
  const text =
    where.databaseUrl === undefined
      ? sqliteText(where.dataDir, cause)
      : postgresText(where.databaseUrl, cause)
  return new Error(text, { cause: error })
}

function noInstanceText({ dataDir, databaseUrl, settingsFile }: Where): string {
  const begin = `To create a new one: ${terseCommand('serve')}`
  if (databaseUrl !== undefined) {
    return `There is no instance of Terse in the ${databaseName(databaseUrl)}. Correct TERSE_DATABASE_URL. ${begin}`
  }
  const isOfPostgres = existsSync(secretKeyFile(dataDir))
  const file = settingsFile ?? path.join(dataDir, 'terse.env')
  return isOfPostgres
    ? `There is no database in ${dataDir}. If its service uses PostgreSQL, set TERSE_DATABASE_URL for this command too, in the environment or in ${file}. ${begin}`
    : `There is no instance of Terse in ${dataDir}. Name its data folder with --data-dir or TERSE_DATA_DIR, or its settings with --env-file. ${begin}`
}

function sqliteText(dataDir: string, cause: unknown): string {
  const code = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) & 0xff : 0
  const isFull = code === SQLITE_IOERR && hasNoRoom(dataDir)
  const advice = SQLITE_ADVICE.get(isFull ? SQLITE_FULL : code) ?? 'Check the disk.'
  return `The database in ${dataDir} cannot be used by the user ${userName()}: ${reasonOf(cause)}. ${advice}`
}

function postgresText(url: string, cause: unknown): string {
  const reason = reasonOf(cause)
  // The pg library reports this when the server requires a password and none is set.
  const code = reason.startsWith('SASL') ? '28P01' : codeOf(cause)
  const advice = POSTGRES_ADVICE.get(code) ?? POSTGRES_ADVICE_ELSE
  return `The ${databaseName(url)} cannot be used: ${reason}. ${advice}`
}

/** SQLite reports a failed write to its shared memory as an I/O error. */
function hasNoRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize < ROOM_TO_OPEN_BYTES
  } catch {
    return false
  }
}

/** Names a database without user and password. */
function databaseName(text: string): string {
  const parsed = parseDatabaseUrl(text)
  const { servers, url: plain } = 'value' in parsed ? parsed.value : { servers: [], url: text }
  const url = new URL(plain)
  const host = url.searchParams.get('host') ?? (url.hostname || 'this machine')
  const name = decodeURIComponent(url.pathname.slice(1))
  const server = url.port === '' ? host : `${host}:${url.port}`
  const all = servers.map(({ host, port }) => `${host}:${port}`).join(' or ') || server
  return `PostgreSQL database${name === '' ? '' : ` "${name}"`} at ${all}`
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  // When a name has several addresses, Node.js collects an error for each, and its own message is empty.
  const [first] = cause instanceof AggregateError ? cause.errors : []
  const text = cause.message || (first instanceof Error ? first.message : cause.name)
  return (text.split('\n')[0] ?? '').replace(/\.$/, '')
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

const VARIABLES: Readonly<Record<ListeningUse, string>> = {
  plain: 'TERSE_PORT',
  https: 'TERSE_HTTPS_PORT',
  internal: 'TERSE_INTERNAL_LISTEN',
}

/** Explains why a port could not be opened, with what to do about it. Returns other errors unchanged. */
export function listeningFault(config: Config, error: unknown): unknown {
  const place = listeningPlaces(config).find(({ port }) => isAbout(error, port))
  const text = place && faultText(place, error)
  return text === undefined ? error : new Error(text, { cause: error })
}

function faultText({ use, host, port }: ListeningPlace, error: unknown): string | undefined {
  const variable = VARIABLES[use]
  if (hasErrorCode(error, 'EADDRINUSE')) {
    return `Port ${port} is in use by another program. Stop that one, or set ${variable} to a free port.`
  }
  if (hasErrorCode(error, 'EACCES')) {
    return (
      `The user ${userName()} may not open port ${port}. Set ${variable} to a port above 1023, or allow it: ` +
      '"sudo sysctl net.ipv4.ip_unprivileged_port_start=80", with systemd "AmbientCapabilities=CAP_NET_BIND_SERVICE".'
    )
  }
  if (hasErrorCode(error, 'EADDRNOTAVAIL')) {
    const at = use === 'internal' ? variable : 'TERSE_HOST'
    return `This machine does not have the address ${host}. Correct ${at}.`
  }
  return undefined
}

function isAbout(error: unknown, port: number): boolean {
  return error instanceof Error && 'port' in error && error.port === port
}
