import assert from 'node:assert/strict'

/** Expects equal values. SQLite's rows have no prototype, which no caller can observe. */
export function same(actual: unknown, expected: unknown): void {
  assert.deepEqual(structuredClone(actual), structuredClone(expected))
}
