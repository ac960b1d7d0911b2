import assert from 'node:assert/strict'
import { z } from 'zod'
import type { Description } from './operations.ts'

/** A schema of the description, ready to check answers against it, references followed. */
export function describedSchema(description: Description, schema: object): z.ZodType {
  const all = JSON.stringify({ ...schema, $defs: description.components.schemas })
  return z.fromJSONSchema(JSON.parse(all.replaceAll('#/components/schemas/', '#/$defs/')))
}

/** Makes sure that a value is as the description says, and shows every place where it is not. */
export function expectDescribed(schema: z.ZodType, value: unknown, what: string): void {
  const result = schema.safeParse(value)
  assert.ok(result.success, result.success ? '' : `${what}: ${z.prettifyError(result.error)}`)
}
