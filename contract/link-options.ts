import { z } from 'zod'
import { PATH_MODES, QUERY_MODES } from './link-fields.ts'
import { managedByInput, managedFields } from './managed.ts'
import { integer, line, lines, timestamp, uuid } from './primitives.ts'

const MAX_CLICKS_MAX = 1_000_000_000
const NOTES_LENGTH_MAX = 4_000
/** More than any network shows; in characters. */
export const PREVIEW_TITLE_LENGTH_MAX = 200
export const PREVIEW_DESCRIPTION_LENGTH_MAX = 500
const PREVIEW_IMAGE_LENGTH_MAX = 2_048

/** The options of a link in requests, beside its fields. */
export const optionInputs = {
  max_clicks: integer(MAX_CLICKS_MAX, 1)
    .nullable()
    .optional()
    .describe(
      'How many clicks of people the link takes; then it has expired. Any number when null.',
    ),
  active_from: z
    .string()
    .nullable()
    .optional()
    .describe('An ISO 8601 instant with a zone, before which the link leads nowhere.'),
  archived: z
    .boolean()
    .nullable()
    .optional()
    .describe('Whether lists leave the link out. It redirects all the same.'),
  notes: lines(NOTES_LENGTH_MAX)
    .nullable()
    .optional()
    .describe(
      `What its owners should know: at most ${NOTES_LENGTH_MAX} characters. Visitors never see it.`,
    ),
  rule_set: uuid
    .toLowerCase()
    .nullable()
    .optional()
    .describe(
      'The id of a rule set, which is tried where none of the rules of the link matches; none when null.',
    ),
  title: line(PREVIEW_TITLE_LENGTH_MAX)
    .nullable()
    .optional()
    .describe(
      `The title that messengers and social networks show of the link: at most ${PREVIEW_TITLE_LENGTH_MAX} characters. With a title, a description or an image their programs get a page with these; people are redirected all the same.`,
    ),
  description: line(PREVIEW_DESCRIPTION_LENGTH_MAX)
    .nullable()
    .optional()
    .describe(
      `The text that they show below the title: at most ${PREVIEW_DESCRIPTION_LENGTH_MAX} characters.`,
    ),
  image: line(PREVIEW_IMAGE_LENGTH_MAX)
    .nullable()
    .optional()
    .describe(
      'The https URL of the picture that they show: that of an uploaded image of the workspace, or of any other host.',
    ),
  path: z
    .enum(PATH_MODES)
    .nullable()
    .optional()
    .describe(
      'What the link does with the path behind its key: `none`, so that only the key alone leads to it; `append` adds it to the path of the destination; `capture` puts it in the place of `{1}` to `{9}` and `{path}` of the destination. Always `capture` where the key has placeholders such as `p/{id}`, which the destination may have too.',
    ),
  query: z
    .enum(QUERY_MODES)
    .nullable()
    .optional()
    .describe(
      "What becomes of the visitor's query: `merge` adds it to the destination's, whose parameters of the same names it replaces; `replace` puts it in the place of the destination's; `drop` leaves it out.",
    ),
  track_conversions: z
    .boolean()
    .nullable()
    .optional()
    .describe(
      'Whether destinations get a token, with which your server reports a conversion. Null: as the domain has it, else the workspace.',
    ),
  managed_by: managedByInput,
  prevent_delete: z
    .boolean()
    .nullable()
    .optional()
    .describe('Whether deletions of the link are refused. A deletion of its workspace is not.'),
}

const ignored = z.unknown().optional().meta({ readOnly: true }).describe('Accepted and ignored.')

export const linkOptionsBody = z
  .strictObject({ ...optionInputs, clicks_left: ignored, managed_at: ignored })
  .meta({
    id: 'PatchLinkOptions',
    description: 'Changes the options that are sent. Null restores what a new link has.',
    examples: [{ notes: 'On the flyer of May', active_from: '2026-12-01T08:00:00+01:00' }],
  })

/** An entry here for each option, with what it answers, and for what follows from them. */
export const linkOptionsSchema = z
  .object({
    max_clicks: z.int().nullable().describe('How many clicks of people the link takes.'),
    clicks_left: z
      .int()
      .nullable()
      .describe(
        'How many of them are left: `max_clicks` less the clicks that are counted, so a second or two behind. Null without a limit.',
      ),
    active_from: timestamp.nullable().describe('From when on it leads somewhere.'),
    archived: z.boolean().describe('Whether lists leave it out.'),
    notes: z.string().nullable().describe('What its owners should know.'),
    path: z.enum(PATH_MODES).describe('What it does with the path behind its key.'),
    query: z.enum(QUERY_MODES).describe("What becomes of the visitor's query."),
    rule_set: uuid.nullable().describe('The id of the rule set that it uses beside its rules.'),
    title: z.string().nullable().describe('The title that messengers and networks show of it.'),
    description: z.string().nullable().describe('The text that they show below the title.'),
    image: z.string().nullable().describe('The https URL of the picture that they show.'),
    track_conversions: z
      .boolean()
      .nullable()
      .describe('Whether destinations get a token for conversions; null: as the domain has it.'),
    ...managedFields,
    prevent_delete: z.boolean().describe('Whether deletions of the link are refused.'),
  })
  .meta({ id: 'LinkOptions', description: 'What a link has beside its fields.' })

export type LinkOptionsResource = z.output<typeof linkOptionsSchema>
