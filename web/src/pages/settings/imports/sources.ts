import { type CreateImportInput, REVIVAL } from '../../../api/imports.ts'
import type { Catalogue } from '../../../text/en.ts'

type SourceId = CreateImportInput['source']

/** What a person gives of a source: a file, a token, or also the address of a service of their own. */
type SourceAsks = 'file' | 'token' | 'address'

export type Source = {
  readonly id: SourceId
  /** As the service calls itself, in every language. */
  readonly name: string
  readonly asks: SourceAsks
  /** Endings of the files that are offered. */
  readonly accept?: string
  /** Whether its dates have no zone. */
  readonly hasLocalDates?: boolean
}

export const SOURCES: readonly Source[] = [
  { id: 'csv', name: 'CSV', asks: 'file', accept: '.csv,.tsv,.txt', hasLocalDates: true },
  { id: 'bitly', name: 'Bitly', asks: 'token' },
  { id: 'dub', name: 'Dub', asks: 'token' },
  { id: 'dub-csv', name: 'Dub (CSV)', asks: 'file', accept: '.csv', hasLocalDates: true },
  { id: 'shortio', name: 'Short.io', asks: 'token' },
  { id: 'rebrandly', name: 'Rebrandly', asks: 'token' },
  { id: 'shlink', name: 'Shlink', asks: 'address' },
  { id: 'kutt', name: 'Kutt', asks: 'address' },
  { id: 'kutt-sqlite', name: 'Kutt (SQLite)', asks: 'file' },
  { id: 'kutt-sql', name: 'Kutt (SQL)', asks: 'file', accept: '.sql', hasLocalDates: true },
  { id: 'yourls', name: 'YOURLS', asks: 'address', hasLocalDates: true },
  { id: 'yourls-sql', name: 'YOURLS (SQL)', asks: 'file', accept: '.sql', hasLocalDates: true },
  { id: 'polr-sql', name: 'Polr (SQL)', asks: 'file', accept: '.sql', hasLocalDates: true },
  { id: 'sink', name: 'Sink', asks: 'file', accept: '.json,.db,.sqlite' },
  { id: 'chhoto', name: 'Chhoto URL', asks: 'file' },
  { id: 'terse', name: 'Terse', asks: 'file', accept: '.ndjson,.jsonl,.zip' },
]

export function sourceOf(id: string): Source | undefined {
  return SOURCES.find((source) => source.id === id)
}

/** What an import is called in lists. */
export function nameOf(id: string, t: Catalogue): string {
  return id === REVIVAL ? t.imports.revivals.title : (sourceOf(id)?.name ?? id)
}

/** The fields of a link that a column of a CSV file may have. */
export const CSV_FIELDS = [
  'short_link',
  'custom_link',
  'domain',
  'key',
  'url',
  'tags',
  'created_at',
  'clicks',
  'last_click',
  'expires_at',
  'expired_redirect_url',
  'starts_at',
  'closed',
  'active',
  'status',
  'max_visits',
  'notes',
  'archived',
  'title',
  'description',
  'image',
  'password',
  'ios',
  'android',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'utm_name',
  'external_id',
] as const
