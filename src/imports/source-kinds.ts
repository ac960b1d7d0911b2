import type { Fault } from '@terse/contract/faults'

/**
 * How to reach each kind of source. The command line and the API make one of these; `sources/open-source.ts` opens it.
 * `token` is a secret: it is sealed in the database while the import runs, and in no log, event or report.
 */
export type SourceSettings =
  | CsvSettings
  | FileSettings
  | DatabaseSettings
  | TokenApiSettings
  | ShortIoSettings
  | SelfHostedApiSettings

/** Any CSV file with a header. `map` is from a field of a link record to a column's header. */
export type CsvSettings = {
  readonly kind: 'csv' | 'dub-csv'
  readonly file: string
  readonly map: Readonly<Record<string, string>>
  /** Headers of columns that a person has dismissed: they have no field, whatever they say. */
  readonly ignored: readonly string[]
  /** IANA name: of dates without a zone. */
  readonly timeZone: string
}

/** A file that the service's export, backup or database is. Those that end in `-sql` are dumps of MySQL. */
export type FileSettings = {
  readonly kind:
    | 'yourls-sql'
    | 'polr-sql'
    | 'kutt-sql'
    | 'sink'
    | 'chhoto'
    | 'kutt-sqlite'
    | 'terse'
  readonly file: string
  readonly timeZone: string
}

/** Kutt's own PostgreSQL database, by its connection URL. */
export type DatabaseSettings = { readonly kind: 'kutt-postgres'; readonly url: string }

export type TokenApiSettings = {
  readonly kind: 'bitly' | 'dub' | 'rebrandly'
  readonly token: string
  /** The address of the API, for tests and compatible services; by default the service's own. */
  readonly url?: string | undefined
}

/** Short.io lists the links of one domain at a time; without `domains`, those of all. */
export type ShortIoSettings = {
  readonly kind: 'shortio'
  readonly token: string
  readonly domains?: readonly string[] | undefined
  readonly url?: string | undefined
}

/** `url` is where the service is, such as `https://kutt.example`. YOURLS takes its signature token. */
export type SelfHostedApiSettings = {
  readonly kind: 'kutt' | 'shlink' | 'yourls'
  readonly url: string
  readonly token: string
  /** The time zone of YOURLS's dates, which name none. */
  readonly timeZone: string
}

export type SourceKind = SourceSettings['kind']

/** How a source is given: as a file, by a token of a known service, by address and token, or as a database. */
type Access = 'file' | 'token' | 'address and token' | 'database'

export const SOURCE_ACCESS: Readonly<Record<SourceKind, Access>> = {
  csv: 'file',
  bitly: 'token',
  dub: 'token',
  'dub-csv': 'file',
  shortio: 'token',
  rebrandly: 'token',
  shlink: 'address and token',
  kutt: 'address and token',
  'kutt-sqlite': 'file',
  'kutt-postgres': 'database',
  'kutt-sql': 'file',
  yourls: 'address and token',
  'yourls-sql': 'file',
  'polr-sql': 'file',
  sink: 'file',
  chhoto: 'file',
  terse: 'file',
}

export const SOURCE_KINDS = Object.keys(SOURCE_ACCESS) as readonly SourceKind[]

/** What a person gives of a source. */
type GivenSource = {
  readonly file?: string | undefined
  readonly url?: string | undefined
  readonly token?: string | undefined
  /** Domains to import from Short.io; all when undefined. */
  readonly domains?: readonly string[] | undefined
  readonly timeZone: string
  readonly columns: Readonly<Record<string, string>>
  readonly ignoredColumns: readonly string[]
}

/** What a source lacks, or has too much, by the name of what was given. */
export class SourceInputError extends Error {
  override readonly name = 'SourceInputError'
  readonly field: 'file' | 'url' | 'token' | 'columns'
  readonly fault: Fault

  constructor(field: SourceInputError['field'], fault: Fault) {
    super(`${field}: ${fault.code}`)
    this.field = field
    this.fault = fault
  }
}

/** @throws {SourceInputError} */
export function sourceSettings(kind: SourceKind, given: GivenSource): SourceSettings {
  const { timeZone, columns, ignoredColumns: ignored } = given
  const namesColumns = Object.keys(columns).length > 0 || ignored.length > 0
  if (namesColumns && kind !== 'csv' && kind !== 'dub-csv') {
    throw new SourceInputError('columns', { code: 'not_needed', source: kind })
  }
  switch (kind) {
    case 'csv':
    case 'dub-csv':
      return { kind, file: need(given, 'file'), map: columns, ignored, timeZone }
    case 'yourls-sql':
    case 'polr-sql':
    case 'sink':
    case 'chhoto':
    case 'kutt-sqlite':
    case 'kutt-sql':
    case 'terse':
      return { kind, file: need(given, 'file'), timeZone }
    case 'kutt-postgres':
      return { kind, url: given.url ?? need(given, 'token') }
    case 'bitly':
    case 'dub':
    case 'rebrandly':
      return { kind, token: need(given, 'token'), url: webAddress(given.url) }
    case 'shortio': {
      const { domains } = given
      return { kind, token: need(given, 'token'), domains, url: webAddress(given.url) }
    }
    case 'kutt':
    case 'shlink':
    case 'yourls': {
      const url = webAddress(need(given, 'url')) ?? ''
      return { kind, url, token: need(given, 'token'), timeZone }
    }
  }
}

/** Which source of its kind it is, so that links of two of them are distinguished. Contains no secret. */
export function originOf(name: string, settings: SourceSettings): string {
  const url = 'url' in settings ? settings.url : undefined
  if (url === undefined) return name
  const { host, pathname } = new URL(url)
  return `${name} ${host}${pathname.replace(/\/$/, '')}`
}

function need(given: GivenSource, field: 'file' | 'url' | 'token'): string {
  const value = given[field]
  if (value === undefined || value === '') throw new SourceInputError(field, { code: 'required' })
  return value
}

function webAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (url === null || !isWeb || url.username !== '' || url.password !== '') {
    throw new SourceInputError('url', { code: 'invalid_url' })
  }
  return url.href
}
