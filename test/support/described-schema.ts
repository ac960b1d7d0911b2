import assert from 'node:assert/strict'
import { z } from 'zod'
import type { Description } from './operations.ts'

/** Compiling one takes longer than the request whose answer it validates. */
const compiled = new WeakMap<object, z.ZodType>()

/** Answers may have more fields in a later version; those of this one have no others. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const parts = Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, closed(part)]),
  )
  const isOpen = 'properties' in value && !('additionalProperties' in value)
  return isOpen && 'type' in value ? { ...parts, additionalProperties: false } : parts
}

/** Returns a schema of the API description, with references resolved, that validates answers. */
export function describedSchema(description: Description, schema: object): z.ZodType {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const all = JSON.stringify(closed({ ...schema, $defs: description.components.schemas }))
  const made = z.fromJSONSchema(JSON.parse(all.replaceAll('#/components/schemas/', '#/$defs/')))
  compiled.set(schema, made)
  return made
}

/** Expects that a value matches the description, and shows every difference. */
export function expectDescribed(schema: z.ZodType, value: unknown, what: string): void {
  const result = schema.safeParse(value)
  assert.ok(result.success, result.success ? '' : `${what}: ${z.prettifyError(result.error)}`)
}
