import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../test/support/properties.ts'
import { keyOfPath, parseKey } from './key.ts'

describe('keyOfPath', () => {
  const table: [string, string | undefined][] = [
    ['/abc', 'abc'],
    ['/a/b', 'a/b'],
    ['/AbC', 'AbC'],
    ['/', ''],
    ['//', ''],
    ['/abc/', 'abc'],
    ['/a/b/', 'a/b'],
    ['/abc//', 'abc/'],
    ['/stra%C3%9Fe/', 'straße'],
    ['/%61bc', 'abc'],
    ['/a%2Fb', 'a/b'],
    ['/stra%C3%9Fe', 'straße'],
    ['/stra%c3%9fe', 'straße'],
    ['/cafe%CC%81', 'café'],
    ['/plain%00', undefined],
    [`/${'a'.repeat(380)}`, 'a'.repeat(380)],
    [`/${'a'.repeat(381)}`, undefined],
    ['/%', undefined],
    ['/%zz', undefined],
    ['/%FF', undefined],
    ['/%C3', undefined],
    ['/%ED%A0%80', undefined],
    ['/100%25', '100%'],
    ['/a+b', 'a+b'],
  ]
  for (const [path, key] of table) {
    test(`returns ${key === undefined ? 'no key' : `"${key}"`} for ${path}`, () =>
      assert.equal(keyOfPath(path), key))
  }

  test('returns the same key for each way a client may encode it', () => {
    const character = fc.constantFrom(...'aZ9-_.~/éßΣ日हि𝒜\u0301')
    fc.assert(
      fc.property(fc.string({ unit: character, minLength: 1, maxLength: 12 }), (text) => {
        const parsed = parseKey(text)
        if ('fault' in parsed) return
        const key = parsed.value
        const escaped = [...Buffer.from(key)].map(
          (byte) => `%${byte.toString(16).padStart(2, '0')}`,
        )
        const paths = [key, key.normalize('NFD')].map((form) => encodeURI(form))
        for (const path of [...paths, escaped.join('')]) assert.equal(keyOfPath(`/${path}`), key)
      }),
      cases(500),
    )
  })

  test('never throws, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        keyOfPath(`/${Buffer.from(bytes).toString('latin1')}`)
      }),
      cases(300),
    )
  })
})
