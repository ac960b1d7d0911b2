import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { preferredLanguage } from './preferred-language.ts'

describe('preferredLanguage', () => {
  const cases = [
    { header: undefined, language: 'en' },
    { header: '', language: 'en' },
    { header: 'de-AT,de;q=0.9,en;q=0.8', language: 'de' },
    { header: 'en;q=0.5, DE;q=0.7', language: 'de' },
    { header: 'fr, en;q=0.3, de;q=0.2', language: 'en' },
    { header: 'de;q=0', language: 'en' },
    { header: 'den, nonsense;;, *', language: 'en' },
    { header: `${'x'.repeat(600)},de`, language: 'en' },
  ] as const
  for (const { header, language } of cases) {
    test(`of ${header?.slice(0, 30)} is ${language}`, () => {
      assert.equal(preferredLanguage(header, ['en', 'de']), language)
    })
  }
})
