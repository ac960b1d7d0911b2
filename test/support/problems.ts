import assert from 'node:assert/strict'
import type { Problem } from '@terse/contract/errors'
import { FAULTS } from '@terse/contract/faults'
import type { Answer } from './api.ts'

/** The documented status of every error code. */
const STATUS_OF = {
  bad_request: 400,
  malformed_json: 400,
  unauthorized: 401,
  second_factor_required: 401,
  missing_scope: 403,
  missing_role: 403,
  authentication_required: 403,
  cross_origin: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  in_use: 409,
  examples_changed: 409,
  precondition_failed: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  https_required: 426,
  rate_limited: 429,
  too_many_attempts: 429,
  queue_full: 429,
  unavailable: 503,
  overloaded: 503,
} as const

export type ProblemCode = keyof typeof STATUS_OF

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const LOOKS_LIKE_A_STACK = /node_modules|\.ts:\d+|\n\s+at |Error:/

/**
 * Expects that an answer is exactly the error envelope.
 *
 * @param fields exactly those that `errors` must contain, in any order
 */
export function expectProblem(
  answer: Answer,
  code: ProblemCode,
  fields?: readonly string[],
): Answer {
  const { status, headers, body } = answer
  const shown = JSON.stringify(body)
  assert.equal(body.code, code, shown)
  assert.equal(status, STATUS_OF[code], shown)
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  const hasFields = code === 'validation_failed' || code === 'second_factor_required'
  const hasDetails = [
    'unauthorized',
    'missing_role',
    'cross_origin',
    'in_use',
    'examples_changed',
  ].includes(code)
  const keys = [
    'message',
    'code',
    ...(hasFields ? ['errors', 'faults'] : []),
    ...(hasDetails ? ['details'] : []),
    'request_id',
  ]
  assert.deepEqual(Object.keys(body), keys)
  assert.match(body.request_id, UUID)
  assert.equal(headers.get('x-request-id'), body.request_id)
  assert.ok(typeof body.message === 'string' && body.message.length > 0, shown)
  assert.doesNotMatch(shown, LOOKS_LIKE_A_STACK)
  assertFaults(body)
  if (fields !== undefined) {
    assert.deepEqual(Object.keys(body.errors ?? {}).sort(), [...fields].sort(), shown)
  }
  return answer
}

/** Expects that the faults of a problem have the texts of its errors, and codes that are documented. */
export function assertFaults({ errors, faults }: Pick<Problem, 'errors' | 'faults'>): void {
  const texts = Object.entries(faults ?? {}).map(([field, found]) => [
    field,
    found.map(({ message }) => message),
  ])
  assert.deepEqual(Object.fromEntries(texts), errors ?? {})
  for (const found of Object.values(faults ?? {})) {
    assert.ok(found.length > 0)
    for (const fault of found) {
      assert.ok(fault.code in FAULTS, JSON.stringify(fault))
      assert.doesNotMatch(fault.message, /[{}]/, 'a parameter of the text is missing')
    }
  }
}

/** Returns the body of a refusal without the id of its request, to compare it with another one. */
export function withoutId({ body: { request_id: _, ...rest } }: Answer): object {
  return rest
}
