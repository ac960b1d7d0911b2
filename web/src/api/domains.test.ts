import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hostOf } from './domains.ts'

const CASES: readonly (readonly [string, string])[] = [
  ['shop.example.org', 'shop.example.org'],
  [' shop.example.org ', 'shop.example.org'],
  ['https://shop.example.org/', 'shop.example.org'],
  ['HTTP://Shop.example.org/a?b#c', 'shop.example.org'],
  ['shop.example.org/path', 'shop.example.org'],
  ['shop.example.org:8443', 'shop.example.org'],
  ['//shop.example.org', 'shop.example.org'],
  ['bücher.example', 'bücher.example'],
  ['https://bücher.example/', 'xn--bcher-kva.example'],
  ['not a host', 'not a host'],
  ['', ''],
]

describe('the host of what was typed as a domain', () => {
  for (const [typed, host] of CASES) {
    test(`is "${host}" for "${typed}"`, () => assert.equal(hostOf(typed), host))
  }
})
