import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { preferredLanguage } from './preferred-language.ts'

const CASES: readonly [header: string | undefined, language: string][] = [
  [undefined, 'en'],
  ['', 'en'],
  ['de', 'de'],
  ['de-AT', 'de'],
  ['DE-at', 'de'],
  ['fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5', 'fr'],
  ['en-US,en;q=0.9,de;q=0.8', 'en'],
  ['pt', 'pt'],
  ['pt-PT', 'pt'],
  ['es-419', 'es'],
  ['zh', 'zh'],
  ['zh-CN', 'zh'],
  ['zh-Hans', 'zh'],
  ['zh-Hant', 'zh'],
  ['zh-Hant-TW, en;q=0.5', 'zh'],
  ['it', 'it'],
  ['nl-BE', 'nl'],
  ['pl', 'pl'],
  ['ja-JP', 'ja'],
  // Weights decide, then the order.
  ['en;q=0.5, de;q=0.7', 'de'],
  ['de;q=0.7, en;q=0.7', 'de'],
  ['de;q=0.999, fr', 'fr'],
  ['de ; q=0.5 ,\tfr ; q=0.6', 'fr'],
  ['de;Q=0.5, fr;Q=0.4', 'de'],
  ['de;q=0, fr;q=0.1', 'fr'],
  ['de;q=0', 'en'],
  // Languages without texts.
  ['sv, da;q=0.9', 'en'],
  ['sv, da;q=0.9, nl;q=0.1', 'nl'],
  ['den', 'en'],
  ['i-klingon, de;q=0.5', 'de'],
  // Any language means the default one.
  ['*', 'en'],
  ['*;q=0.5, ja;q=0.1', 'en'],
  ['*;q=0.1, ja;q=0.5', 'ja'],
  // Malformed ranges are skipped.
  [',, ,de,', 'de'],
  ['de;q=2, fr', 'fr'],
  ['de;q=1.5', 'en'],
  ['de;q=0.1234, fr;q=0.1', 'fr'],
  ['de;q=-1', 'en'],
  ['de;q=', 'en'],
  ['de;level=1', 'en'],
  ['de_DE', 'en'],
  ['de-', 'en'],
  ['d\u00e9', 'en'],
  ['<script>, de;q=0.1', 'de'],
  ['constructor, __proto__, it;q=0.1', 'it'],
]

const LANGUAGES = ['en', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt', 'zh']
const OFFERED: ReadonlyMap<string, string> = new Map(LANGUAGES.map((each) => [each, each]))

const preferred = (header: string | undefined) => preferredLanguage(header, OFFERED, 'en')

describe('preferredLanguage', () => {
  for (const [header, language] of CASES) {
    test(`chooses ${language} for ${header === undefined ? 'no header' : `"${header}"`}`, () =>
      assert.equal(preferred(header), language))
  }

  test('reads the first 512 characters, and no range that they cut', () => {
    const filler = `sv-${'abcdefgh-'.repeat(55)}abcdefg,`
    assert.equal(filler.length, 506)
    assert.equal(preferred(`${filler}de`), 'de')
    assert.equal(preferred(`${filler}de,sv-SE`), 'de')
    assert.equal(preferred(`${filler}xxx-X,de`), 'en')
    assert.equal(preferred(`${filler}    den`), 'en')
    assert.equal(preferred(`${filler}   de-AT`), 'en')
  })

  test('reads the first 32 ranges', () => {
    assert.equal(preferred(`${'sv,'.repeat(31)}de`), 'de')
    assert.equal(preferred(`${'sv,'.repeat(32)}de`), 'en')
  })

  test('reads hostile headers of the greatest length', () => {
    for (const text of [
      'de-',
      '-a',
      ' ',
      '\t ',
      ';q=',
      'q=0.',
      'de;q=0.1,',
      ',',
      'de  ',
      '\u00ff',
    ]) {
      assert.match(preferred(text.repeat(16_384 / text.length)), /^(de|en)$/)
    }
  })
})
