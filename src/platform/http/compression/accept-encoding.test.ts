import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CODINGS, preferredCoding } from './compressible.ts'

const CASES: readonly (readonly [header: string | undefined, chosen: string | undefined])[] = [
  [undefined, undefined],
  ['', undefined],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['x-gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip;q=1.0, br;q=0.9', 'gzip'],
  ['br; q=0.5 , gzip ; q=0.501', 'gzip'],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['br;q=0, *', 'gzip'],
  ['br;q=0, *;q=0.1', 'gzip'],
  ['gzip;q=0, br;q=0', undefined],
  ['gzip;q=0.000', undefined],
  ['identity', undefined],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
  ['identity;q=0', undefined],
  ['gzip;q=two, br;q=-1', undefined],
  ['gzip;q=1.5', undefined],
  ['deflate, zstd', undefined],
  [',,;q=1,;', undefined],
  ['gzipped', undefined],
]

describe('preferredCoding', () => {
  for (const [header, chosen] of CASES) {
    test(`chooses ${chosen ?? 'no coding'} for ${header === undefined ? 'no header' : `"${header}"`}`, () => {
      assert.equal(preferredCoding(header, CODINGS), chosen)
    })
  }

  test('chooses only among the offered codings', () => {
    assert.equal(preferredCoding('br, gzip;q=0.1', ['gzip']), 'gzip')
    assert.equal(preferredCoding('br', ['gzip']), undefined)
  })
})
