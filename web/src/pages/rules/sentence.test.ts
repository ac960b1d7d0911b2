import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { When } from '@terse/contract/rules'
import { ruleLanguage } from './rule-words.ts'
import { partsOf, splitSentence, whenSentence } from './sentence.ts'

const textOf = (sentence: string) =>
  partsOf(sentence)
    .map(({ text, isValue }) => (isValue ? `[${text}]` : text))
    .join('')

const CASES: readonly (readonly [When, string, string])[] = [
  [{}, 'Everyone', 'Alle'],
  [
    { country: ['DE', 'AT'], device: ['phone'] },
    'If the country is [Germany or Austria], and the device is a [phone]',
    'Wenn das Land [Deutschland oder Österreich] ist und das Gerät [Handy] ist',
  ],
  [
    { bot: false, not: { qr: true, country: ['europe'] } },
    'If it is no bot, and they scanned no QR code, and the country is not [Europe]',
    'Wenn es kein Bot ist und kein QR-Code gescannt wurde und das Land nicht [Europa] ist',
  ],
  [
    {
      query: [
        { name: 'vip', equals: '1' },
        { name: 'ref', absent: true },
      ],
      language: ['pt-BR'],
    },
    'If parameter [vip] is [1] or there is no parameter [ref], and the language is [Brazilian Portuguese]',
    'Wenn der Parameter [vip] gleich [1] ist oder der Parameter [ref] fehlt und die Sprache [Portugiesisch (Brasilien)] ist',
  ],
  [
    {
      time: [
        { weekdays: ['mon', 'sun'], hours: { from: '09:00', until: '24:00' }, zone: 'Asia/Tokyo' },
      ],
    },
    'If it is [on Mon or Sun between 09:00 and 24:00 (Tokyo)]',
    'Wenn der Besuch [am Mo oder So zwischen 09:00 und 24:00 Uhr (Tokyo)] ist',
  ],
  [
    { any: [{ device: ['tablet'], os: ['ios'] }, { bot: true }] },
    'If one of these holds: the device is a [tablet] and the system is [iOS]; or it is a bot',
    'Wenn eines davon gilt: das Gerät [Tablet] ist und das System [iOS] ist; oder es ein Bot ist',
  ],
  [
    { country: ['??'], referrer: ['none'], label: ['a'] },
    'If the country is [??], and they come from [no page], and the label is [a]',
    'Wenn das Land [??] ist und der Besuch von [keiner Seite] kommt und das Label [a] ist',
  ],
]

describe('the sentence of a rule', () => {
  for (const [when, en, de] of CASES) {
    test(`is "${en}"`, () => {
      assert.equal(textOf(whenSentence(when, ruleLanguage('en'))), en)
      assert.equal(textOf(whenSentence(when, ruleLanguage('de'))), de)
    })
  }

  test('has the shares of a split', () => {
    const split = [
      { name: 'Shop', url: '', weight: 1 },
      { name: 'Quiz', url: '', weight: 2 },
    ]
    assert.equal(
      textOf(splitSentence(split, ruleLanguage('en'))),
      'split: [Shop 33.3% and Quiz 66.7%]',
    )
  })
})
