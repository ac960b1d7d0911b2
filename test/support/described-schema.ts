import assert from 'node:assert/strict'
import { z } from 'zod'
import type { Description } from './operations.ts'

type Definitions = Readonly<Record<string, unknown>>

const REFERENCE = /"#\/\$defs\/([^"]+)"/g

/** What is read from a description once: reading it, or compiling a schema, takes longer than a request. */
type Reading = { readonly definitions: Definitions; readonly compiled: Map<string, z.ZodType> }
const readings = new WeakMap<Description, Reading>()

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

/** Returns the text of a schema or of several, with references as zod understands them. */
function textOf(schema: object): string {
  return JSON.stringify(closed(schema)).replaceAll('#/components/schemas/', '#/$defs/')
}

function readingOf(description: Description): Reading {
  let reading = readings.get(description)
  if (reading === undefined) {
    const definitions = JSON.parse(textOf(description.components.schemas))
    reading = { definitions, compiled: new Map() }
    readings.set(description, reading)
  }
  return reading
}

/** Returns the definitions that a schema refers to, and those that they refer to. */
function definitionsOf(text: string, definitions: Definitions): Definitions {
  const found: Record<string, unknown> = {}
  const look = (within: string) => {
    for (const [, name = ''] of within.matchAll(REFERENCE)) {
      if (name in found) continue
      found[name] = definitions[name]
      look(JSON.stringify(definitions[name]))
    }
  }
  look(text)
  return found
}

/** Returns a schema of the API description, with references resolved, that validates answers. */
export function describedSchema(description: Description, schema: object): z.ZodType {
  const { definitions, compiled } = readingOf(description)
  const text = textOf(schema)
  const known = compiled.get(text)
  if (known !== undefined) return known
  const made = z.fromJSONSchema({ ...JSON.parse(text), $defs: definitionsOf(text, definitions) })
  compiled.set(text, made)
  return made
}

/** Expects that a value matches the description, and shows every difference. */
export function expectDescribed(schema: z.ZodType, value: unknown, what: string): void {
  const result = schema.safeParse(value)
  assert.ok(result.success, result.success ? '' : `${what}: ${z.prettifyError(result.error)}`)
}
