import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hasQrMark, withoutQrMark } from '../link.ts'

describe('hasQrMark and withoutQrMark', () => {
  const table: [query: string, marked: boolean, rest: string][] = [
    ['', false, ''],
    ['qr=1', true, ''],
    ['qr=1&a=1', true, 'a=1'],
    ['a=1&qr=1', true, 'a=1'],
    ['a=%20&qr=1&b=+&&', true, 'a=%20&b=+&&'],
    ['qr=1&qr=1', true, ''],
    ['qr=10', false, 'qr=10'],
    ['aqr=1', false, 'aqr=1'],
    ['qr=1;a', false, 'qr=1;a'],
    ['QR=1', false, 'QR=1'],
    ['qr', false, 'qr'],
    ['a=qr=1', false, 'a=qr=1'],
  ]
  for (const [query, marked, rest] of table) {
    test(`${marked ? 'find and remove the mark' : 'find no mark'} in "${query}"`, () => {
      assert.equal(hasQrMark(query), marked)
      assert.equal(withoutQrMark(query), rest)
    })
  }
})
