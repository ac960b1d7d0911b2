import type { FastifySchemaCompiler } from 'fastify'
import type { z } from 'zod'
import { Failure, type FieldFaults } from '../../failure.ts'

/** Most faults reported for one request: a body of 64 KiB can hold thousands. */
const FAULTS_MAX = 50

/** Checks a request against the contract; reports faults by field. */
export const validate: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  return (data) => {
    const result = schema.safeParse(data)
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
      const result = route.schema.safeParse(data)
      if (result.success) return { value: result.data }
      const faults = faultsOfShape(result.error, true)
      const wrong = new Set(Object.keys(faults).map((field) => field.split('.', 1)[0]))
      const right = Object.entries(data ?? {}).filter(([field]) => !wrong.has(field))
      const others = wrong.has('body') ? {} : faultsOf(Object.fromEntries(right))
      return { error: Failure.invalid({ ...faults, ...others }) }
    }
  }
}

/** @param namesParts whether to report a part of a field, such as `tags.0`, or only the field */
function faultsOfShape(error: z.ZodError, namesParts: boolean): Record<string, string[]> {
  const fields: Record<string, string[]> = Object.create(null)
  const add = (field: string, text: string) => {
    const texts = fields[field] ?? []
    fields[field] = texts.includes(text) ? texts : [...texts, text]
  }
  for (const issue of error.issues.slice(0, FAULTS_MAX)) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, FAULTS_MAX)) add(key, 'is not a known field')
    } else {
      const path = namesParts ? issue.path : issue.path.slice(0, 1)
      add(path.length === 0 ? 'body' : path.join('.'), sentence(issue))
    }
  }
  return fields
}

/** zod's message, or a clearer one where zod only reports a wrong type. */
function sentence(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_type' || !issue.message.startsWith('Invalid input')) {
    return issue.message
  }
  if (issue.message.endsWith('received undefined')) return 'is required'
  return `must be ${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`
}
