import assert from 'node:assert/strict'
import { z } from 'zod'
import type { Description } from './operations.ts'

/** Returns a schema of the API description, with references resolved, that validates answers. */
export function describedSchema(description: Description, schema: object): z.ZodType {
  const all = JSON.stringify({ ...schema, $defs: description.components.schemas })
  return z.fromJSONSchema(JSON.parse(all.replaceAll('#/components/schemas/', '#/$defs/')))
}

/** Expects that a value matches the description, and shows every difference. */
export function expectDescribed(schema: z.ZodType, value: unknown, what: string): void {
  const result = schema.safeParse(value)
  assert.ok(result.success, result.success ? '' : `${what}: ${z.prettifyError(result.error)}`)
}
