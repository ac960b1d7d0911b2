import assert from 'node:assert/strict'

/** Equal in every value. SQLite's rows have no prototype, which is nothing that a caller can see. */
export function same(actual: unknown, expected: unknown): void {
  assert.deepEqual(structuredClone(actual), structuredClone(expected))
}
