import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { holdsWebAddress, requirePersonName } from './person.ts'

describe('holdsWebAddress', () => {
  const ADDRESSES = [
    ...['https://evil.example', 'Win at evil.com now', 'evil.com', 'EVIL.COM/x', 'www.evil'],
    ...['see evil.co.uk.', '(login.evil.io)', 'ada@evil.com', '192.0.2.1', 'http://localhost'],
    ...['ｅｖｉｌ．ｃｏｍ', 'evil。com', 'ｈｔｔｐｓ：／／evil', 'xn--mnchen-3ya.de', 'münchen.de'],
  ]
  for (const name of ADDRESSES) {
    test(`is true for "${name}"`, () => assert.ok(holdsWebAddress(name)))
  }
  const NAMES = [
    ...['Ada Lovelace', 'J.R.R. Tolkien', 'St.John', 'Dr. Who', 'A.Smith', 'Jean-Luc', "O'Neil"],
    ...['山田太郎', 'Awww. Cute', '3.14', 'acme', 'Ada, Inc.', 'a/b'],
  ]
  for (const name of NAMES) {
    test(`is false for "${name}"`, () => assert.ok(!holdsWebAddress(name)))
  }
})

test('a person may be called by their own e-mail address, and by no other', () => {
  assert.equal(requirePersonName('Ada@Example.com', 'ada@example.com'), 'Ada@Example.com')
  assert.throws(() => requirePersonName('ada@example.com', 'eve@example.com'), {
    fields: { name: [{ code: 'web_address' }] },
  })
})
