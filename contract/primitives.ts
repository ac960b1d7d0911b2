import { z } from 'zod'
import { asMessage } from './faults.ts'
import { ROLES } from './roles.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/

/** One line of text: no control characters, no lone surrogates. */
export function line(lengthMax: number) {
  return z
    .string()
    .min(1)
    .max(lengthMax)
    .refine((text) => !CONTROL_CHARACTER.test(text), asMessage({ code: 'control_characters' }))
    .refine((text) => text.isWellFormed(), asMessage({ code: 'malformed_text' }))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const CONTROL_CHARACTER_IN_LINES = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/

/** Text that may have several lines. */
export function lines(lengthMax: number) {
  return z
    .string()
    .min(1)
    .max(lengthMax)
    .refine(
      (text) => !CONTROL_CHARACTER_IN_LINES.test(text),
      asMessage({ code: 'control_characters' }),
    )
    .refine((text) => text.isWellFormed(), asMessage({ code: 'malformed_text' }))
}

/** The maximum length of a destination in its stored form, in characters. */
const DESTINATION_LENGTH_MAX = 8192

/** A destination in a request; the rules of URLs are checked later. */
export const destinationInput = line(DESTINATION_LENGTH_MAX)

/** An instant in a query; it is parsed later. */
export const instantInput = z.string().meta({ format: 'date-time' })

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ` */
export const timestamp = z
  .string()
  .meta({ format: 'date-time', examples: ['2026-11-20T09:30:00.123456Z'] })

/** Beside numbers of clicks. */
export const countedUntil = timestamp
  .nullable()
  .describe(
    'Null while counting keeps up: each click counts within some seconds. When counting is behind, all clicks before this instant are counted, and later ones may be missing.',
  )

export const roleSchema = z
  .enum(ROLES)
  .describe(
    '`viewer` reads links, domains and clicks; `member` also writes links; `admin` also manages domains, people, tokens and settings; `owner` also owners and the deletion of the workspace.',
  )

export const uuid = z.uuid()

/** The `{id}` of a path. Text that is not a UUID gives 404 like an unknown id, not 422. */
export const idParams = z.object({
  id: z.string().toLowerCase().describe('The identifier, a UUID.'),
})

export function integer(max: number, min: number) {
  const message = asMessage({ code: 'out_of_range', min, max })
  return z.int(message).min(min, message).max(max, message)
}

/** A whole number in a query string. */
export function queryInteger(max: number, min = 1) {
  const digits = (value: unknown) =>
    typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value
  return z.preprocess(digits, integer(max, min))
}

/** Names of fields, separated by commas, that a list or an export returns. */
export function fieldsQuery<F extends string>(names: readonly F[]) {
  const error = asMessage({ code: 'not_list_of', allowed: names })
  return z
    .string()
    .transform((text) => [...new Set(text.split(','))])
    .pipe(z.array(z.enum(names, { error })))
    .optional()
}

/** Headers of a read that answers 304 when the client has the current version. */
export const ifNoneMatchHeaders = z.looseObject({
  'if-none-match': z
    .string()
    .optional()
    .describe(
      'One or more values of `ETag` from earlier responses. Returns 304 if one of them is current.',
    ),
})

/** Headers of a write that fails with 412 when another writer has changed the resource. */
export const ifMatchHeaders = z.looseObject({
  'if-match': z
    .string()
    .optional()
    .describe(
      'One or more values of `ETag` from earlier responses. Returns 412 and changes nothing if another writer has changed the resource since. Clicks do not count as changes.',
    ),
})

/** Headers of a request that takes effect once, however often the client sends it. */
export const idempotencyHeaders = z.looseObject({
  'idempotency-key': z
    .string()
    .optional()
    .describe('1 to 255 printable characters, unique for each new request.'),
})
