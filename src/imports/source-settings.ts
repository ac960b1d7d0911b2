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
