import assert from 'node:assert/strict'
import { type Answer, expectStatus } from './api.ts'

/** Expects that an answer rejects exactly these fields, each with a message in words. */
export function expectInvalid(answer: Answer, ...fields: string[]): void {
  const { body } = expectStatus(answer, 422)
  assert.equal(body.code, 'validation_failed')
  assert.ok(body.message.length > 0)
  assert.deepEqual(Object.keys(body.errors).sort(), fields.toSorted(), JSON.stringify(body))
  for (const reasons of Object.values<string[]>(body.errors)) {
    assert.ok(reasons.length > 0 && reasons.every((reason) => reason.length > 5), `${reasons}`)
  }
}
