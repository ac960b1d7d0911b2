import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loggedError } from './open-config.ts'

describe('loggedError', () => {
  const errorWith = (fields: object) => Object.assign(new Error('on purpose'), fields)

  for (const fields of [{ code: 'ENOSPC' }, { code: 'EDQUOT' }, { errcode: 13 }]) {
    test(`has no stack where a disk is full: ${JSON.stringify(fields)}`, () => {
      const logged = Object(loggedError(errorWith(fields)))
      assert.equal(logged.message, 'on purpose')
      assert.equal('stack' in logged, false)
    })
  }

  for (const fields of [{}, { code: 'EIO' }, { code: 'ENOENT' }, { errcode: 11 }]) {
    test(`has the stack of other faults: ${JSON.stringify(fields)}`, () => {
      assert.match(Object(loggedError(errorWith(fields))).stack, /open-config\.test\.ts/)
    })
  }
})
