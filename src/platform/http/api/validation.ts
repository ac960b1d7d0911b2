import type { FastifySchemaCompiler } from 'fastify'
import type { z } from 'zod'
import { Failure, type FieldFaults } from '../../failure.ts'

/** Faults told for one request at most: a body of 64 KiB can hold thousands. */
const FAULTS_MAX = 50

/** Checks a request against the contract; what is wrong is named field by field. */
export const validate: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  return (data) => {
    const result = schema.safeParse(data)
    return result.success
      ? { value: result.data }
      : { error: Failure.invalid(faultsOfShape(result.error, httpPart === 'body')) }
  }
}

/**
 * The same, for bodies whose fields must also keep rules of the domain: one whose shape is wrong is
 * asked about its other fields too, so that nobody corrects one fault only to be told of the next.
 *
 * @param faultsOf what the domain finds wrong with fields whose shape is right
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

/** @param namesParts whether a part of a field is named, such as `tags.0`; a parameter is named as a whole */
function faultsOfShape(error: z.ZodError, namesParts: boolean): Record<string, string[]> {
  const fields: Record<string, string[]> = Object.create(null)
  const add = (field: string, text: string) => {
    const told = fields[field] ?? []
    fields[field] = told.includes(text) ? told : [...told, text]
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

/** zod's own words, save where it says no more than that the type is wrong. */
function sentence(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_type' || !issue.message.startsWith('Invalid input')) {
    return issue.message
  }
  if (issue.message.endsWith('received undefined')) return 'is required'
  return `must be ${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`
}
