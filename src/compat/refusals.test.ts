import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { CallRefused } from '../identity/index.ts'
import { Failure } from '../platform/failure.ts'
import { HttpRefusal } from '../platform/http/api/problem.ts'
import { refusalOf } from './refusals.ts'

describe('refusalOf', () => {
  const logged: unknown[] = []
  const request = { id: 'r1', log: { error: (fields: unknown) => logged.push(fields) } }
  const refuse = (error: unknown) => {
    const { status, headers } = refusalOf(error, request as unknown as FastifyRequest)
    return [status, headers]
  }
  const problem = { message: 'Away.', code: 'unavailable' } as const

  const CASES: { name: string; error: unknown; expected: [number, object] }[] = [
    {
      name: 'a refused call that may be repeated',
      error: new CallRefused(503, problem, '7'),
      expected: [503, { 'Retry-After': '7' }],
    },
    {
      name: 'a refused call',
      error: new CallRefused(404, problem, undefined),
      expected: [404, {}],
    },
    {
      name: 'a limit of requests',
      error: new HttpRefusal('rate_limited', 'Slow down.', { 'Retry-After': '9' }),
      expected: [429, { 'Retry-After': '9' }],
    },
    {
      name: 'an unavailable database',
      error: Failure.unavailable(new Error('gone')),
      expected: [503, { 'Retry-After': '2' }],
    },
    {
      name: 'an unknown token',
      error: Failure.unauthorized({ code: 'invalid_token' }),
      expected: [401, {}],
    },
    {
      name: 'a body that is too large',
      error: Object.assign(new Error('too large'), { statusCode: 413 }),
      expected: [413, {}],
    },
  ]
  for (const { name, error, expected } of CASES)
    test(`reads ${name}`, () => {
      assert.deepEqual(refuse(error), expected)
      assert.deepEqual(logged, [])
    })

  test('logs an unexpected error, and does not show it', () => {
    const err = new Error('secret detail')
    const { status, message } = refusalOf(err, request as unknown as FastifyRequest)
    assert.equal(status, 500)
    assert.ok(!message.includes('secret detail'))
    assert.deepEqual(logged, [{ reqId: 'r1', err }])
  })
})
