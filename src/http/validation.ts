import type { FastifySchemaCompiler } from 'fastify'
import type { z } from 'zod'
import { Failure } from '../domain/failure.ts'

/** Faults told for one request at most: a body of 64 KiB can hold thousands. */
const FAULTS_MAX = 50

/** Checks a request against the contract; what is wrong is named field by field. */
export const validate: FastifySchemaCompiler<z.ZodType> = ({ schema }) => {
  return (data) => {
    const result = schema.safeParse(data)
    return result.success ? { value: result.data } : { error: invalid(result.error) }
  }
}

function invalid(error: z.ZodError): Failure {
  const fields: Record<string, string[]> = Object.create(null)
  const add = (field: string, text: string) => {
    fields[field] = [...(fields[field] ?? []), text]
  }
  for (const issue of error.issues.slice(0, FAULTS_MAX)) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, FAULTS_MAX)) add(key, 'is not a known field')
    } else {
      add(issue.path.length === 0 ? 'body' : issue.path.join('.'), sentence(issue))
    }
  }
  return Failure.invalid(fields)
}

/** zod's own words, save where it says no more than that the type is wrong. */
function sentence(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_type' || !issue.message.startsWith('Invalid input'))
    return issue.message
  if (issue.message.endsWith('received undefined')) return 'is required'
  return `must be ${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`
}
