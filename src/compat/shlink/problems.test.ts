import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { CallRefused } from '../../identity/index.ts'
import { Failure } from '../../platform/failure.ts'
import { problemOf } from './problems.ts'

const REQUEST = { id: 'r1' } as FastifyRequest

test('answers 503 with the time of the next attempt while the store is down', () => {
  const refusal = { code: 'unavailable', message: 'The database is down.' } as const
  for (const [error, seconds] of [
    [new CallRefused(503, refusal, '7'), '7'],
    [Failure.unavailable('database'), '2'],
  ] as const) {
    const problem = problemOf(error, REQUEST)
    assert.equal(problem.status, 503)
    assert.equal(problem.body.title, 'Service Unavailable')
    assert.deepEqual(problem.headers, { 'Retry-After': seconds })
  }
})

test('names the fields of a refused link as Shlink does', () => {
  const errors = { 'tags.0': ['must not be empty'], url: ['is required'] }
  const refusal = { code: 'validation_failed', message: 'no', errors } as const
  const error = new CallRefused(422, refusal, undefined)
  const { invalidElements, detail } = problemOf(error, REQUEST).body
  assert.deepEqual(invalidElements, ['tags', 'longUrl'])
  assert.equal(detail, 'Provided data is not valid. tags.0 must not be empty. longUrl is required.')
})
