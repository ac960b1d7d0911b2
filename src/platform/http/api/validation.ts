import { isDeepStrictEqual } from 'node:util'
import { type Fault, faultOfMessage } from '@terse/contract/faults'
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify'
import type { z } from 'zod'
import { Failure, type FieldFaults } from '../../failure.ts'

export const BODY_BYTES_MAX = 64 * 1024

export function bodyTooLarge(bytesMax: number): string {
  return `The body is larger than ${bytesMax / 1024} KiB.`
}

/**
 * Accepts JSON as the only body type. An empty body with the JSON content type counts as no body, because
 * clients send the header on every request, deletes and QR codes included.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else parse(request, body as string, done)
  })
}

/** Most faults reported for one request: a body of 64 KiB can hold thousands. */
const FAULTS_MAX = 50
/** A value that is missing has a fault of its own. */
const WITH_INPUT = { reportInput: true }

/** Checks a request against the contract; reports faults by field. */
export const validate: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  return (data) => {
    const result = schema.safeParse(data, WITH_INPUT)
    return result.success
      ? { value: result.data }
      : { error: Failure.invalid(faultsOfShape(result.error, httpPart === 'body')) }
  }
}

/**
 * Like `validate`, for bodies whose fields must also follow a module's rules. When some fields have the
 * wrong shape, the other fields are checked against the rules too, so that the client gets all faults in
 * one answer.
 *
 * @param faultsOf returns which fields break the rules; called with fields whose shape is right
 */
export function validateWith(
  faultsOf: (input: object) => FieldFaults,
): FastifySchemaCompiler<z.ZodType> {
  return (route) => {
    if (route.httpPart !== 'body') return validate(route)
    return (data) => {
      const checked = checkBody(route.schema, data, faultsOf)
      return 'value' in checked ? checked : { error: Failure.invalid(checked.faults) }
    }
  }
}

/**
 * Checks a body, or what has the shape of one. Of one with a wrong shape, the other fields are checked against the
 * module's rules too; one with the right shape is not.
 */
export function checkBody<T>(
  schema: z.ZodType<T>,
  data: unknown,
  faultsOf: (input: object) => FieldFaults,
): { readonly value: T } | { readonly faults: FieldFaults } {
  const result = schema.safeParse(data, WITH_INPUT)
  if (result.success) return { value: result.data }
  const faults = faultsOfShape(result.error, true)
  const wrong = new Set(Object.keys(faults).map((field) => field.split('.', 1)[0]))
  const right = Object.entries(data ?? {}).filter(([field]) => !wrong.has(field))
  const others = wrong.has('body') ? {} : faultsOf(Object.fromEntries(right))
  return { faults: { ...faults, ...others } }
}

/** @param namesParts whether to report a part of a field, such as `tags.0`, or only the field */
function faultsOfShape(error: z.ZodError, namesParts: boolean): FieldFaults {
  const fields: Record<string, Fault[]> = Object.create(null)
  const add = (field: string, fault: Fault) => {
    const faults = fields[field] ?? []
    const isKnown = faults.some((each) => isDeepStrictEqual(each, fault))
    fields[field] = isKnown ? faults : [...faults, fault]
  }
  for (const issue of error.issues.slice(0, FAULTS_MAX)) {
    if (issue.code === 'unrecognized_keys') {
      const within = namesParts ? issue.path : []
      for (const key of issue.keys.slice(0, FAULTS_MAX)) {
        add([...within, key].join('.'), { code: 'unknown_field' })
      }
    } else {
      const path = namesParts ? issue.path : issue.path.slice(0, 1)
      add(path.length === 0 ? 'body' : path.join('.'), faultOf(issue))
    }
  }
  return fields
}

/** The fault that the contract gives its check, or else one that follows from what was checked. */
function faultOf(issue: z.core.$ZodIssue): Fault {
  if (IS_MISSING.has(issue.code) && issue.input === undefined) return { code: 'required' }
  const given = faultOfMessage(issue.message)
  if (given !== undefined) return given
  switch (issue.code) {
    case 'invalid_type':
      return faultOfType(issue.expected)
    case 'invalid_value':
      return { code: 'not_one_of', allowed: issue.values.map(String) }
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return { code: 'empty' }
      return issue.origin === 'string'
        ? { code: 'too_short', min: Number(issue.minimum) }
        : { code: 'too_few', min: Number(issue.minimum) }
    case 'too_big':
      return {
        code: issue.origin === 'string' ? 'too_long' : 'too_many',
        max: Number(issue.maximum),
      }
    case 'invalid_format':
      return { code: issue.format === 'uuid' ? 'invalid_uuid' : 'invalid' }
    default:
      return { code: 'invalid' }
  }
}

const IS_MISSING: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value'])

function faultOfType(expected: string): Fault {
  const code = 'wrong_type'
  switch (expected) {
    case 'array':
    case 'boolean':
    case 'number':
    case 'object':
    case 'string':
      return { code, reason: expected }
    case 'int':
      return { code, reason: 'integer' }
    case 'record':
      return { code, reason: 'object' }
    default:
      return { code: 'invalid' }
  }
}
