import { fromFields, type LinkText, UTM_FIELDS } from '@terse/contract/link-fields'
import { ImportSourceFault } from '../../import-source.ts'
import type { CsvHeader, CsvRow } from './csv-rows.ts'

/** Headers of a column that says whether a link has a password, and not which. */
const PASSWORD_FLAGS = [
  ...['haspassword', 'passwordprotected', 'ispasswordprotected', 'isprotected', 'protected'],
  ...['passwordenabled', 'passwordset'],
]

/** What a column may hold, and how services call it, in lower case and without signs between the letters. */
const ALIASES = {
  /** The whole short link: domain and key. */
  short_link: [
    'shortlink',
    'shorturl',
    'short',
    'bitlink',
    'tinyurl',
    'shortenedurl',
    'shortenedlink',
    'link',
  ],
  /** Another short link that leads to the same destination, as of Bitly. */
  custom_link: ['customlink', 'custombitlink'],
  domain: ['domain', 'domainname', 'shortdomain', 'host', 'hostname'],
  key: [
    ...['key', 'slug', 'alias', 'keyword', 'backhalf', 'custombackhalf', 'slashtag', 'shortcode'],
    ...['code', 'path', 'address', 'ending', 'urlending', 'customurl', 'shortid'],
  ],
  url: [
    ...['longurl', 'longlink', 'destinationurl', 'destinationlink', 'destination', 'targeturl'],
    ...['target', 'originalurl', 'originallink', 'original', 'redirecturl', 'redirectto', 'url'],
  ],
  ios: ['ios', 'iosurl', 'iphoneurl', 'apple'],
  android: ['android', 'androidurl', 'google'],
  ...fromFields(UTM_FIELDS, (field) => [normalize(field)]),
  external_id: ['externalid'],
  password: ['password', 'passcode', 'passphrase', 'pin', 'pincode', ...PASSWORD_FLAGS],
  tags: ['tags', 'tag', 'labels', 'label'],
  expires_at: [
    ...[
      'expiresat',
      'expires',
      'expireson',
      'expiration',
      'expirationdate',
      'expiry',
      'expirydate',
    ],
    ...['expirytime', 'expirein', 'expiredat', 'expireat', 'expiredate', 'validuntil'],
    ...['validtill', 'validto', 'activeuntil', 'activetill', 'enddate', 'endsat', 'endson'],
  ],
  /** An instant before which the link does not redirect. */
  starts_at: ['validsince', 'validfrom', 'activefrom', 'startsat', 'startson', 'startdate'],
  expired_redirect_url: ['expiredredirecturl', 'expiredurl', 'expirationurl'],
  /** Yes for a link that does not redirect. */
  closed: [
    ...['disabled', 'isdisabled', 'banned', 'isbanned', 'blocked', 'isblocked', 'closed'],
    ...['isclosed', 'deactivated', 'isdeactivated', 'inactive', 'isinactive', 'suspended'],
    ...['issuspended', 'paused', 'ispaused', 'expired', 'isexpired', 'deleted', 'isdeleted'],
  ],
  /** No for a link that does not redirect. */
  active: [
    ...['active', 'isactive', 'enabled', 'isenabled', 'published', 'ispublished', 'live'],
    'islive',
  ],
  /** A word such as "active" or "expired". */
  status: ['status', 'linkstatus', 'state', 'linkstate'],
  /** After how many visits the link stops to redirect. */
  max_visits: [
    ...['maxvisits', 'maxclicks', 'maxhits', 'maxuses', 'maximumvisits', 'maximumclicks'],
    ...['visitlimit', 'visitslimit', 'clicklimit', 'clickslimit', 'limit'],
  ],
  /** What its owners should know. */
  notes: ['notes', 'comment', 'comments', 'remark', 'remarks'],
  /** Only by the names of tags: a "Title" is most often a name for the link's owners. */
  title: ['ogtitle', 'previewtitle', 'socialtitle', 'metatitle'],
  description: ['ogdescription', 'previewdescription', 'socialdescription', 'metadescription'],
  image: ['ogimage', 'previewimage', 'socialimage', 'metaimage'],
  /** Never guessed: at some services an archived link does not redirect. */
  archived: [],
  created_at: [
    ...['createdat', 'created', 'createdon', 'creationdate', 'createddate', 'datecreated'],
    ...['creationtime', 'timestamp', 'date', 'addedon'],
  ],
  clicks: [
    ...[
      'clicks',
      'totalclicks',
      'clickcount',
      'visits',
      'visitcount',
      'visitscount',
      'totalvisits',
    ],
    ...['hits', 'views', 'engagements', 'totalengagements'],
  ],
  last_click: [
    'lastclick',
    'lastclicked',
    'lastclickat',
    'lastclickedat',
    'lastvisit',
    'lastvisited',
  ],
} as const satisfies Record<LinkText | 'external_id' | 'tags', readonly string[]> &
  Record<string, readonly string[]>

export type CsvField = keyof typeof ALIASES

export const CSV_FIELDS = Object.keys(ALIASES) as readonly CsvField[]

/** Fields of which each column counts: a link is closed when one of them says so. */
const CLOSING_FIELDS: readonly CsvField[] = ['closed', 'active', 'status']

/** Where each field is among the columns: one, or several of the fields that close a link. */
export type CsvColumns = ReadonlyMap<CsvField, readonly number[]>

/**
 * Returns the columns that can be recognized by their headers.
 *
 * @param taken what is known already; its columns have no other field
 * @param ignored columns that have no field
 */
export function guessColumns(
  names: readonly string[],
  taken: CsvColumns = new Map(),
  ignored: readonly number[] = [],
): CsvColumns {
  const normalized = names.map(normalize)
  const used = new Set([...[...taken.values()].flat(), ...ignored])
  const found = new Map(taken)
  for (const field of CSV_FIELDS) {
    const isClosing = CLOSING_FIELDS.includes(field)
    if (found.has(field) && !isClosing) continue
    const recognized = ALIASES[field].flatMap((alias) =>
      normalized.flatMap((name, index) => (name === alias && !used.has(index) ? [index] : [])),
    )
    const columns = isClosing ? recognized : recognized.slice(0, 1)
    if (columns.length === 0) continue
    found.set(field, [...(found.get(field) ?? []), ...columns])
    for (const column of columns) used.add(column)
  }
  return found
}

/** Whether a column with this header says only that there is a password. */
export function isFlag(name: string): boolean {
  return PASSWORD_FLAGS.includes(normalize(name))
}

/** Returns a header without what services write differently: letter case, spaces and signs. */
function normalize(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

/**
 * Returns where each field is: as `map` says, and otherwise as its header says.
 *
 * @param ignored columns that have no field, whatever their headers say
 * @throws {ImportSourceFault} when `map` names no field or no column, or there is no column for the key or
 *   destination
 */
export function resolveColumns(
  names: readonly string[],
  map: Readonly<Record<string, string>>,
  ignored: readonly number[] = [],
): CsvColumns {
  const given = Object.entries(map).map(([field, column]): [CsvField, number[]] => [
    getField(field),
    [getColumn(column, names)],
  ])
  const columns = guessColumns(names, new Map(given), ignored)
  const missing = findMissing(columns)
  if (missing === undefined) return columns
  throw fault(`No column has the ${missing.what}. Name it: --map ${missing.field}=COLUMN.`, names)
}

/** Returns what no link can be without, and no column has. */
function findMissing(
  columns: CsvColumns,
): { readonly what: string; readonly field: CsvField } | undefined {
  if (!columns.has('url')) return { what: 'destination', field: 'url' }
  if (columns.has('short_link') || columns.has('key')) return undefined
  return { what: 'key or short link', field: 'key' }
}

function getField(name: string): CsvField {
  const field = CSV_FIELDS.find((each) => each === name)
  if (field !== undefined) return field
  throw new ImportSourceFault(`There is no field ${name}. Fields are ${CSV_FIELDS.join(', ')}.`, {
    isTransient: false,
  })
}

/** @throws {ImportSourceFault} when no column has this header, or several have */
export function getColumn(wanted: string, names: readonly string[]): number {
  for (const same of [
    (name: string) => name === wanted,
    (name: string) => normalize(name) === normalize(wanted),
  ]) {
    const at = names.findIndex(same)
    if (at === -1) continue
    if (names.findLastIndex(same) !== at)
      throw fault(`Several columns are called "${wanted}".`, names)
    return at
  }
  throw fault(`There is no column "${wanted}".`, names)
}

function fault(message: string, names: readonly string[]): ImportSourceFault {
  const list = names.map((name) => `"${name}"`).join(', ')
  return new ImportSourceFault(`${message} The file has the columns ${list.slice(0, 1_000)}.`, {
    isTransient: false,
  })
}

/** A column that may say that links are closed, limited or protected, with a value that shows it. */
type ColumnDoubt = { readonly name: string; readonly value: string }

/** Headers that close or limit a link, or none, depending on the value. */
const DOUBTFUL_NAME =
  /activ|enabl|valid|visib|public|status|state|limit|max|pass(?:word|code|phrase)|^pin|secret|protect|private|restrict|until|deadline|start|^ends?/
/** Headers that say nothing of a link for which the value is no, zero or empty. */
const CLOSING_NAME =
  /disab|block|bann|suspend|paus|close|expir|lock|delet|trash|archiv|hidden|quarantin|revok/
const DENIED = /^(?:false|no|n|0|none|null|never|-)$/i
const CLOSING_VALUE =
  /^(?:disabled|inactive|expired|blocked|banned|suspended|paused|deactivated|closed|locked|protected|password[- ]protected|private|deleted|draft|unpublished|revoked|hidden|quarantined)$/i

/**
 * Returns the columns that no field has and that should not be skipped without a word: by their header or by a value.
 *
 * @param known columns with a field, and those that a person has dismissed
 * @param rows after the header; all are read
 */
export async function findDoubts(
  names: readonly string[],
  known: ReadonlySet<number>,
  rows: AsyncIterable<CsvHeader | CsvRow>,
): Promise<readonly ColumnDoubt[]> {
  const unknown = names.flatMap((name, at) => (known.has(at) ? [] : [{ at, name }]))
  const doubts = new Map<number, ColumnDoubt>()
  const columns = unknown.map(({ at, name }) => ({ at, name, isDoubted: doubtOf(name) }))
  if (columns.length === 0) return []
  for await (const row of rows) {
    if ('names' in row || row.fault !== undefined) continue
    for (const { at, name, isDoubted } of columns) {
      const value = (row.values[at] ?? '').trim()
      if (value === '' || doubts.has(at) || !isDoubted(value)) continue
      doubts.set(at, { name, value: value.slice(0, 40) })
    }
  }
  return [...doubts.values()]
}

/** Returns which values of a column with this header cast doubt. */
function doubtOf(name: string): (value: string) => boolean {
  const normalized = normalize(name)
  if (DOUBTFUL_NAME.test(normalized)) return () => true
  if (CLOSING_NAME.test(normalized)) return (value) => !DENIED.test(value)
  return (value) => CLOSING_VALUE.test(value)
}
