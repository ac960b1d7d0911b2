import { z } from 'zod'
import { asMessage } from './faults.ts'
import { pageOf } from './pagination.ts'
import { line, queryInteger, timestamp, uuid } from './primitives.ts'

/** Databases are read at the command line only. */
const IMPORT_SOURCES = [
  'csv',
  'bitly',
  'dub',
  'dub-csv',
  'shortio',
  'rebrandly',
  'shlink',
  'kutt',
  'kutt-sqlite',
  'kutt-sql',
  'yourls',
  'yourls-sql',
  'polr-sql',
  'sink',
  'chhoto',
  'terse',
] as const

const STATUSES = ['waiting', 'queued', 'reading', 'succeeded', 'failed', 'cancelled'] as const
const CONFLICT_RULES = ['skip', 'update', 'rename', 'fail'] as const
const PAIRS_MAX = 1_000
/** The most bytes of a request that carries a part of a file. */
export const IMPORT_PART_BYTES_MAX = 8 * 1024 * 1024

const NAME_LENGTH_MAX = 500
const TOKEN_LENGTH_MAX = 5_000

const pairs = z
  .record(z.string().max(NAME_LENGTH_MAX), line(NAME_LENGTH_MAX))
  .refine(
    (value) => Object.keys(value).length <= PAIRS_MAX,
    asMessage({ code: 'too_many', max: PAIRS_MAX }),
  )

const timeZone = line(100).refine(
  (name) => {
    try {
      new Intl.DateTimeFormat('en', { timeZone: name })
      return true
    } catch {
      return false
    }
  },
  asMessage({ code: 'invalid_time_zone' }),
)

const options = {
  domains: pairs
    .optional()
    .describe(
      'Where links go: from a domain of the source, or `""` for its own, to a domain of the workspace. Domains that are not named stay.',
    ),
  on_conflict: z
    .enum(CONFLICT_RULES)
    .optional()
    .describe(
      'What to do when a key is taken: leave the link out, update the one that has the key, take the key with a number behind it, or end the import.',
    ),
  timezone: timeZone.optional().describe('Of dates without one; `UTC` when left out.'),
  time_zone: timeZone
    .optional()
    .describe('Former name of `timezone`, which prevails.')
    .meta({ deprecated: true }),
  columns: pairs
    .optional()
    .describe('Of a CSV file: from a field of a link to the name of a column.'),
  ignored_columns: z
    .array(line(NAME_LENGTH_MAX))
    .max(PAIRS_MAX)
    .optional()
    .describe(
      'Of a CSV file: columns that are no field. An import ends before its first row when a column that is not recognized may say that links are closed, limited or protected, and is not named here.',
    ),
}

export const createImportBody = z
  .strictObject({
    source: z.enum(IMPORT_SOURCES).describe('What to read.'),
    url: line(2_000)
      .optional()
      .describe('Where a service is that people host themselves, such as `https://s.example.com`.'),
    token: line(TOKEN_LENGTH_MAX)
      .optional()
      .describe('Of an API. Kept encrypted until the import has ended; never returned.'),
    source_domains: z
      .array(line(300))
      .max(PAIRS_MAX)
      .optional()
      .describe('Of Short.io: only the links of these domains.'),
    ...options,
  })
  .meta({ id: 'CreateImport', description: 'An import to prepare.', examples: [{ source: 'csv' }] })

export const startImportBody = z
  .strictObject({
    dry_run: z
      .boolean()
      .optional()
      .describe('Whether only to report what would be done; `false` when left out.'),
    ...options,
  })
  .meta({
    id: 'StartImport',
    description: 'How to run an import. Options that are left out stay as they are.',
    examples: [{ dry_run: true }],
  })

export const reviveImportsBody = z
  .strictObject({
    dry_run: z
      .boolean()
      .optional()
      .describe('Whether only to report what would be carried over; `false` when left out.'),
  })
  .meta({
    id: 'ReviveImports',
    description: 'How to carry over what earlier imports kept beside their links.',
    examples: [{ dry_run: true }],
  })

const count = (text: string) => z.int().describe(text)

export const importSchema = z
  .object({
    id: uuid.describe('Identifier of the import.'),
    source: z
      .string()
      .describe('What is read; `revive` for what earlier imports kept beside their links.'),
    status: z
      .enum(STATUSES)
      .describe(
        '`waiting` for its file or its start, `queued`, `reading`, or how it ended. A failed import can be started again, and goes on.',
      ),
    dry_run: z.boolean().describe('Whether nothing is written but the report.'),
    domains: z.record(z.string(), z.string()).describe('Where links go.'),
    on_conflict: z.enum(CONFLICT_RULES).describe('What is done when a key is taken.'),
    timezone: z.string().describe('Of dates without one.'),
    time_zone: z.string().describe('Former name of `timezone`.').meta({ deprecated: true }),
    columns: z.record(z.string(), z.string()).describe('Of a CSV file: fields and columns.'),
    ignored_columns: z.array(z.string()).describe('Of a CSV file: columns that are no field.'),
    needs_file: z.boolean().describe('Whether the source is a file, which is sent in parts.'),
    file_bytes: z.int().nullable().describe('How many bytes of the file have arrived.'),
    file_columns: z
      .array(z.string())
      .nullable()
      .describe('Of a CSV file: the names of its columns.'),
    file_fields: z
      .record(z.string(), z.string())
      .nullable()
      .describe('Of a CSV file: the fields that were recognized, and their columns.'),
    links_expected: z.int().nullable().describe('Links of the source, where it says how many.'),
    rows_done: z.int().describe('Rows of the source that are done.'),
    counts: z
      .object({
        created: count('Links created under their own key.'),
        updated: count('Links updated.'),
        renamed: count('Links created under another key.'),
        skipped: count('Rows skipped: imported before, or the key is taken.'),
        refused: count('Rows refused; the report has the reasons.'),
        domains: count('Domains added.'),
        utm_templates: count('UTM templates added.'),
        rule_sets: count('Rule sets added.'),
        settings: count('Settings taken over: those of domains, for labels and for conversions.'),
        locked: count('Links that got a random password, because the old one is not given out.'),
        closed: count('Links that did not redirect at the source, imported as expired.'),
        clicks: count('Clicks taken.'),
        clicks_left_out: count('Clicks of links that were not taken, or at impossible times.'),
        clicks_opening: count(
          'The sum of opening balances: clicks of which only totals are known.',
        ),
        conversions: count('Conversions taken.'),
        conversions_left_out: count(
          'Conversions of links that were not taken, or that the workspace has already.',
        ),
      })
      .describe('What became of the rows, so far.'),
    fault: z.string().nullable().describe('Why it failed.'),
    created_at: timestamp,
    started_at: timestamp.nullable(),
    ended_at: timestamp.nullable(),
  })
  .meta({ id: 'Import', description: 'Links on their way from another service.' })

/** The fields of an import, which were the whole answer to a deletion once. */
const formerFields = Object.fromEntries(
  Object.entries(importSchema.shape).map(([name, field]) => [
    name,
    field.meta({ ...field.meta(), deprecated: true }),
  ]),
) as typeof importSchema.shape

export const importCancelled = z
  .object({ message: z.literal('Import cancelled'), ...formerFields })
  .meta({ id: 'ImportCancelled', description: 'Show the import to see how it ended.' })

export const importPage = pageOf(importSchema, 'ImportPage')

export const importColumns = z
  .object({
    data: z.array(
      z.object({
        name: z.string().describe('The header of the column.'),
        field: z.string().nullable().describe('The field of a link that was recognized.'),
        samples: z.array(z.string()).describe('Up to three different values.'),
      }),
    ),
  })
  .meta({ id: 'ImportColumns', description: 'The columns of a CSV file, none of another source.' })

export const importPartQuery = z.strictObject({
  offset: queryInteger(Number.MAX_SAFE_INTEGER, 0).describe(
    'Where the part begins in the file. What was sent behind it is dropped.',
  ),
})

export const linkOriginSchema = z
  .object({
    import_id: uuid
      .nullable()
      .describe(
        'The import that took the link; all fields are null for a link that was not imported.',
      ),
    origin: z.string().nullable().describe('The source, and which one.'),
    ref: z.string().nullable().describe('Identifies the link within the source.'),
    rest: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('What the source knows and links do not have.'),
  })
  .meta({ id: 'LinkOrigin', description: 'From where an imported link came.' })

export type ImportResource = z.output<typeof importSchema>
export type ImportColumn = z.output<typeof importColumns>['data'][number]
export type ImportPageResource = z.output<typeof importPage>
export type LinkOriginResource = z.output<typeof linkOriginSchema>
export type CreateImportInput = z.output<typeof createImportBody>
export type ReviveImportsInput = z.output<typeof reviveImportsBody>
export type StartImportInput = z.output<typeof startImportBody>
