import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { firstLanguage } from './raw-visit.ts'

describe('firstLanguage', () => {
  const table: [string | undefined, string][] = [
    [undefined, ''],
    ['', ''],
    ['de', 'de'],
    ['de-DE,de;q=0.9,en;q=0.8', 'de'],
    ['EN-us', 'en'],
    ['en,fr', 'en'],
    ['fr;q=0.5', 'fr'],
    [' pt-BR', 'pt'],
    ['gsw-CH', 'gsw'],
    ['zh_CN', ''],
    ['*', ''],
    ['x-klingon', ''],
    ['english', ''],
    ['d', ''],
    ['de\u00df', ''],
    [' '.repeat(100_000), ''],
    ['a'.repeat(100_000), ''],
  ]
  for (const [header, language] of table) {
    test(`returns ${language || 'no language'} for ${String(header).slice(0, 40)}`, () =>
      assert.equal(firstLanguage(header), language))
  }
})
