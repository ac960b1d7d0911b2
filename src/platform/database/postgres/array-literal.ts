/**
 * Arrays as PostgreSQL reads them from text (its manual, “Array Value Input”), for statements that take
 * thousands of rows at once: pg would quote every element by itself, numbers too.
 */

const SPECIAL = /["\\]/
const EVERY_SPECIAL = /["\\]/g

export function numberArray(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

/** Of UUIDs, which need no quotes. */
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
