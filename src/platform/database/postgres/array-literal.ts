/**
 * Formats arrays in PostgreSQL's text form (its manual, “Array Value Input”), for statements with
 * thousands of rows. Faster than pg's own formatting, which quotes every element, numbers too.
 */

const SPECIAL = /["\\]/
const EVERY_SPECIAL = /["\\]/g

export function numberArray(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

/** UUIDs need no quotes. */
export function uuidArray(values: readonly (string | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

export function textArray(values: readonly string[]): string {
  if (values.length === 0) return '{}'
  const escaped = values.map((value) =>
    SPECIAL.test(value) ? value.replace(EVERY_SPECIAL, '\\$&') : value,
  )
  return `{"${escaped.join('","')}"}`
}

export function bytesArray(values: readonly Uint8Array[]): string {
  if (values.length === 0) return '{}'
  return `{"\\\\x${values.map((bytes) => bytes.toHex()).join('","\\\\x')}"}`
}
