import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type RuleInput, rulesBody } from '@terse/contract/rules'
import { FaultList, faultsFoundBy } from '../platform/failure.ts'
import { validate } from '../platform/http/api/validation.ts'
import { parseRules } from './rules.ts'

const OPTIONS = {
  appSchemes: ['myapp'],
  hasCities: false,
  random: (size: number) => Buffer.alloc(size, 0xab),
}
const TO = { url: 'https://example.com/' }

/** The codes of an input's faults by field, as a client gets them. */
function faultsOf(rules: unknown): Record<string, string[]> {
  const check = validate({ schema: rulesBody, method: 'PUT', url: '', httpPart: 'body' })
  const result = check({ rules }) as { value?: { rules: RuleInput[] }; error?: unknown }
  const fields = faultsFoundBy(() => {
    if (result.error !== undefined) throw result.error
    const found = new FaultList()
    parseRules(result.value?.rules ?? [], OPTIONS, found)
    found.throwIfAny()
  })
  return Object.fromEntries(
    Object.entries(fields).map(([field, faults]) => [field, faults.map(({ code }) => code)]),
  )
}

const ofCondition = (when: unknown) => [{ when, then: TO }]
const ofTarget = (target: unknown) => [{ when: {}, then: target }]
const split = (...weights: number[]) =>
  weights.map((weight, index) => ({ name: `v${index}`, url: TO.url, weight }))

describe('rules of a request', () => {
  const refused: [string, unknown, Record<string, string[]>][] = [
    ['no destination', ofTarget({}), { 'rules.0.then': ['exactly_one_of'] }],
    [
      'a destination and a split',
      ofTarget({ ...TO, split: split(1, 1) }),
      { 'rules.0.then': ['exactly_one_of'] },
    ],
    [
      'an unknown condition',
      ofCondition({ counrty: ['DE'] }),
      { 'rules.0.when.counrty': ['unknown_field'] },
    ],
    [
      'not within not',
      ofCondition({ not: { not: { bot: true } } }),
      { 'rules.0.when.not.not': ['unknown_field'] },
    ],
    [
      'an unknown country',
      ofCondition({ country: ['DE', 'UK'] }),
      { 'rules.0.when.country.1': ['unknown_country'] },
    ],
    ['no value', ofCondition({ country: [] }), { 'rules.0.when.country': ['too_few'] }],
    ['an unknown system', ofCondition({ os: ['beos'] }), { 'rules.0.when.os.0': ['not_one_of'] }],
    [
      'a language by its name',
      ofCondition({ language: ['german'] }),
      { 'rules.0.when.language.0': ['invalid_language'] },
    ],
    [
      'two tests of one parameter',
      ofCondition({ query: [{ name: 'a', equals: '1', present: true }] }),
      { 'rules.0.when.query.0': ['exactly_one_of'] },
    ],
    [
      'a network that is too long',
      ofCondition({ any: [{ address: ['10.0.0.0/33'] }] }),
      { 'rules.0.when.any.0.address.0': ['invalid_network'] },
    ],
    [
      'a city where visitors have none',
      ofCondition({ not: { city: ['Berlin'] }, region: ['US-CA'] }),
      { 'rules.0.when.not.city': ['no_cities'], 'rules.0.when.region': ['no_cities'] },
    ],
    [
      'a time without bounds',
      ofCondition({ time: [{ zone: 'UTC' }] }),
      { 'rules.0.when.time.0': ['at_least_one_of'] },
    ],
    [
      'an instant without a zone',
      ofCondition({ time: [{ from: '2026-12-01T09:00' }] }),
      { 'rules.0.when.time.0.from': ['invalid_instant'] },
    ],
    [
      'an unknown time zone',
      ofCondition({ time: [{ weekdays: ['mon'], zone: 'Mars/Base' }] }),
      { 'rules.0.when.time.0.zone': ['invalid_time_zone'] },
    ],
    [
      'an hour past midnight',
      ofCondition({ time: [{ hours: { from: '09:00', until: '24:30' } }] }),
      { 'rules.0.when.time.0.hours.until': ['invalid_time_of_day'] },
    ],
    [
      'a destination that runs code',
      ofTarget({ url: 'javascript:alert(1)' }),
      { 'rules.0.then.url': ['wrong_scheme'] },
    ],
    [
      'a placeholder as the host',
      ofTarget({ url: 'https://{query.host}/' }),
      { 'rules.0.then.url': ['misplaced_placeholder'] },
    ],
    [
      'a placeholder as the host behind three slashes',
      ofTarget({ url: 'https:///{query.host}/' }),
      { 'rules.0.then.url': ['misplaced_placeholder'] },
    ],
    [
      'a placeholder that goes on with the host',
      ofTarget({ url: 'https://example.com{query.x}' }),
      { 'rules.0.then.url': ['misplaced_placeholder'] },
    ],
    [
      'a placeholder as the address of a mail',
      ofTarget({ url: 'mailto:{query.to}' }),
      { 'rules.0.then.url': ['misplaced_placeholder'] },
    ],
    [
      'a split without weight',
      ofTarget({ split: split(0, 0) }),
      { 'rules.0.then.split': ['no_weight'] },
    ],
    ['a split of one', ofTarget({ split: split(1) }), { 'rules.0.then.split': ['too_few'] }],
    [
      'a weight with a fraction',
      ofTarget({ split: split(1, 0.5) }),
      { 'rules.0.then.split.1.weight': ['out_of_range'] },
    ],
    [
      'two variants of one name',
      ofTarget({ split: [...split(1, 1), ...split(1)] }),
      { 'rules.0.then.split': ['repeated'] },
    ],
    [
      'an end in favour of an unknown variant',
      ofTarget({ split: split(1, 1), end: { at: '2026-12-01T00:00:00Z', variant: 'v2' } }),
      { 'rules.0.then.end.variant': ['unknown_variant'] },
    ],
    [
      'days to keep the variant of no split',
      ofTarget({ ...TO, remember_days: 30 }),
      { 'rules.0.then.remember_days': ['incompatible'] },
    ],
    [
      'two rules of one id',
      [
        { id: 'a', then: TO },
        { id: 'a', then: TO },
      ],
      { rules: ['repeated'] },
    ],
    ['an id with a space', [{ id: 'a b', then: TO }], { 'rules.0.id': ['invalid_rule_id'] }],
    ['more than 50', Array.from({ length: 51 }, () => ({ then: TO })), { rules: ['too_many'] }],
    [
      'more than 64 KiB in the stored form',
      Array.from({ length: 10 }, () => ({
        then: { url: `https://example.com/${'ü'.repeat(1_300)}` },
      })),
      { rules: ['rules_too_large'] },
    ],
  ]
  for (const [what, rules, faults] of refused) {
    test(`are refused for ${what}`, () => assert.deepEqual(faultsOf(rules), faults))
  }

  test('are stored in their canonical form, with an id for each', () => {
    const body = rulesBody.parse({
      rules: [
        {
          when: {
            country: ['de', 'eea', 'ASIA'],
            referrer: ['Heise.DE'],
            time: [{ from: '2026-12-01T09:00:00+01:00' }],
          },
          then: { url: 'HTTPS://Example.com/{query.sku}/ü?a={query.b}#{query.c}' },
        },
        { id: 'app', then: { url: 'myapp://open/{query.id}' } },
      ],
    })
    assert.deepEqual(parseRules(body.rules, OPTIONS, new FaultList()), [
      {
        id: 'ababababab',
        when: {
          country: ['DE', 'EEA', 'asia'],
          referrer: ['heise.de'],
          time: [{ from: '2026-12-01T08:00:00.000000Z' }],
        },
        then: { url: 'https://example.com/{query.sku}/%C3%BC?a={query.b}#{query.c}' },
      },
      { id: 'app', when: {}, then: { url: 'myapp://open/{query.id}' } },
    ])
  })
})
