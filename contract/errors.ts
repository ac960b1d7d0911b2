import { z } from 'zod'
import { ERROR_DETAILS, FAULTS, type FaultCode } from './faults.ts'

/** Every `code` that an answer of the API can carry. Codes are stable: clients may branch on them. */
const ERROR_CODES = [
  'bad_request',
  'malformed_json',
  'unauthorized',
  'second_factor_required',
  'missing_scope',
  'missing_role',
  'authentication_required',
  'cross_origin',
  'not_found',
  'method_not_allowed',
  'idempotency_conflict',
  'in_use',
  'examples_changed',
  'precondition_failed',
  'body_too_large',
  'unsupported_media_type',
  'validation_failed',
  'https_required',
  'rate_limited',
  'too_many_attempts',
  'queue_full',
  'internal',
  'unavailable',
  'overloaded',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

const FAULT_CODES = Object.keys(FAULTS) as [FaultCode, ...FaultCode[]]

export const faultSchema = z
  .looseObject({
    code: z.enum(FAULT_CODES).describe('What is wrong, for programs; codes are stable.'),
    reason: z.string().optional().describe('What exactly, where a code has several reasons.'),
    message: z.string().describe('The text that `errors` has.'),
    min: z.number().optional().describe('The least that is allowed.'),
    max: z
      .union([z.number(), z.string()])
      .optional()
      .describe('The most that is allowed; a text for an instant.'),
    allowed: z.array(z.string()).optional().describe('The values that are allowed.'),
  })
  .meta({
    id: 'Fault',
    description: 'What is wrong with a field. Other parameters: docs/faults.md of the service.',
  })

/** The body of every error answer. */
export const problemSchema = z
  .object({
    message: z.string().describe('The reason, as text for people.'),
    code: z.enum(ERROR_CODES).describe('The reason, for programs; codes are stable.'),
    errors: z
      .record(z.string(), z.array(z.string()))
      .optional()
      .describe(
        'The faults of each field, for `validation_failed`; the fields that would do, for `second_factor_required`.',
      ),
    faults: z
      .record(z.string(), z.array(faultSchema))
      .optional()
      .describe('The same as `errors`, each fault with its `code` and parameters.'),
    details: z
      .looseObject({ code: z.enum(Object.keys(ERROR_DETAILS)) })
      .optional()
      .describe(
        'A closer reason, for `in_use`, `examples_changed`, and some `unauthorized`, `missing_role` and `cross_origin`.',
      ),
    request_id: z
      .string()
      .optional()
      .describe(
        'The id of the request, as in `X-Request-Id` and in the log of the service; absent only in the items of a bulk request.',
      ),
  })
  .meta({ id: 'Problem', description: 'Why a request was refused.' })

export type FaultResource = z.output<typeof faultSchema>
export type Problem = z.output<typeof problemSchema>
