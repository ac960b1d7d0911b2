import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bestLanguage, offeredLanguages } from './languages.ts'

const best = (offered: readonly string[], header: string | undefined) =>
  bestLanguage(offeredLanguages(offered), header)?.text

describe('bestLanguage', () => {
  const table: [offered: string[], header: string | undefined, expected: string | undefined][] = [
    [['en'], 'en-GB', 'en'],
    [['en'], 'en', 'en'],
    [['fr-FR'], 'fr', undefined],
    [['fr'], 'FR_ca', 'fr'],
    [['en'], undefined, undefined],
    [['en'], '*', undefined],
    [['en'], '', undefined],
    [['en'], 'en;q=0', undefined],
    [['zh-TW'], 'zh-Hant-TW', 'zh-TW'],
    [['zh-Hans', 'zh-Hant'], 'zh-CN', 'zh-Hans'],
    [['zh-Hans', 'zh-Hant'], 'zh-HK', 'zh-Hant'],
    [['pt', 'pt-BR'], 'pt-BR,pt;q=0.9', 'pt-BR'],
    [['pt', 'pt-BR'], 'pt-PT,pt;q=0.9', 'pt'],
    [['es'], 'en-US,es;q=0.6', undefined],
    [['es'], 'en-US,es;q=0.9', 'es'],
    [['es'], 'es;q=0.5', 'es'],
    [['fr', 'de'], 'de,fr;q=0.9', 'de'],
    [['fr', 'de'], 'fr;q=0.9,de', 'de'],
    [['en'], 'de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7', undefined],
    [['no'], 'nb-NO,nb;q=0.9,no;q=0.8,nn;q=0.7', 'no'],
    [['he'], 'iw', 'he'],
    [['de'], 'xx-,;;;,de', 'de'],
    [['de'], 'de;q=1.5', undefined],
    [['de'], `${'x, '.repeat(200)}de`, undefined],
  ]
  for (const [offered, header, expected] of table) {
    test(`is ${expected ?? 'none'} of ${offered} for ${header?.slice(0, 50) ?? 'no header'}`, () =>
      assert.equal(best(offered, header), expected))
  }
})
