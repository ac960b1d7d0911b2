import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asMessage, type Fault } from '@terse/contract/faults'
import { z } from 'zod'
import { Failure } from '../../failure.ts'
import { validate } from './validation.ts'

function faultsOf(schema: z.ZodType, data: unknown): Failure['fields'] {
  const check = validate({ schema, httpPart: 'body', method: 'POST', url: '' })
  const { error }: { error?: unknown } = Object(check(data))
  assert.ok(error instanceof Failure)
  assert.equal(error.code, 'validation_failed')
  return error.fields
}

describe('validate', () => {
  const cases: [string, z.ZodType, unknown, Fault][] = [
    ['a missing text', z.string(), undefined, { code: 'required' }],
    ['a missing choice', z.enum(['a']), undefined, { code: 'required' }],
    ['another type', z.string(), 7, { code: 'wrong_type', reason: 'string' }],
    ['no whole number', z.int(), 1.5, { code: 'wrong_type', reason: 'integer' }],
    ['no record', z.record(z.string(), z.string()), 7, { code: 'wrong_type', reason: 'object' }],
    ['an unknown choice', z.enum(['a', 'b']), 'c', { code: 'not_one_of', allowed: ['a', 'b'] }],
    ['an empty text', z.string().min(1), '', { code: 'empty' }],
    ['a short text', z.string().min(2), 'x', { code: 'too_short', min: 2 }],
    ['a long text', z.string().max(2), 'xxx', { code: 'too_long', max: 2 }],
    ['few values', z.array(z.string()).min(1), [], { code: 'too_few', min: 1 }],
    ['many values', z.array(z.string()).max(1), ['a', 'b'], { code: 'too_many', max: 1 }],
    ['no UUID', z.uuid(), 'x', { code: 'invalid_uuid' }],
    ['another check', z.string().refine(() => false), 'x', { code: 'invalid' }],
    [
      'a check that has its fault from the contract',
      z.string().regex(/^#/, asMessage({ code: 'invalid_color' })),
      'red',
      { code: 'invalid_color' },
    ],
  ]
  for (const [what, schema, value, fault] of cases) {
    test(`reports ${what} as ${fault.code}`, () =>
      assert.deepEqual(
        { ...faultsOf(z.object({ field: schema }), { field: value }) },
        { field: [fault] },
      ))
  }

  test('reports each unknown field, and what is no object as the body', () => {
    const schema = z.strictObject({})
    const unknown = [{ code: 'unknown_field' }]
    assert.deepEqual({ ...faultsOf(schema, { a: 1, b: 2 }) }, { a: unknown, b: unknown })
    assert.deepEqual(
      { ...faultsOf(schema, 7) },
      { body: [{ code: 'wrong_type', reason: 'object' }] },
    )
  })

  test('reports a fault that several checks find once', () => {
    const message = asMessage({ code: 'out_of_range', min: 1, max: 9 })
    const field = z.int(message).min(1, message).max(9, message)
    assert.deepEqual(
      { ...faultsOf(z.object({ field }), { field: 0 }) },
      { field: [{ code: 'out_of_range', min: 1, max: 9 }] },
    )
  })
})
