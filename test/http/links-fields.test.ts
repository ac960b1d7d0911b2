import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, type LinkBody, OPTIONAL_FIELDS, postLink, showLink } from '../support/links.ts'
import { onSqlite } from '../support/on-each-engine.ts'

const UTM_FIELDS = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'utm_name',
] as const

/** Accepted values, and how they are returned where that differs. */
const ACCEPTED: readonly { field: string; what: string; sent: unknown; shown?: unknown }[] = [
  { field: 'external_id', what: 'the largest safe integer', sent: 2 ** 53 - 1 },
  { field: 'external_id', what: 'zero, which is not null', sent: 0 },
  { field: 'external_id', what: 'null', sent: null },

  { field: 'tags', what: 'an empty list', sent: [] },
  { field: 'tags', what: 'null for an empty list', sent: null, shown: [] },
  { field: 'tags', what: '50 tags', sent: numbered(50) },
  { field: 'tags', what: 'tags of 1 and of 50 characters', sent: ['x', 'y'.repeat(50)] },
  { field: 'tags', what: 'a tag of 50 characters beyond the basic plane', sent: ['𝄞'.repeat(50)] },
  {
    field: 'tags',
    what: 'tags in any order, which it keeps',
    sent: ['pear', 'apple', 'fig', 'Apple'],
  },
  { field: 'tags', what: 'duplicates, of which the first is kept', ...duplicates() },
  { field: 'tags', what: 'more than 50 tags with duplicates among them', ...manyDuplicates() },
  {
    field: 'tags',
    what: 'any script and sign',
    sent: ['Grüße', '春', '🎉', '%_\\', '"quoted"', 'a b'],
  },

  ...[
    ['2026-12-31T23:59:59Z', '2026-12-31T23:59:59.000000Z'],
    ['2026-12-31T23:59:59.5Z', '2026-12-31T23:59:59.500000Z'],
    ['2026-12-31T23:59:59.123456Z', '2026-12-31T23:59:59.123456Z'],
    ['2026-12-31T23:59:59.123456789Z', '2026-12-31T23:59:59.123456Z'],
    ['2026-12-31T23:59:59+01:00', '2026-12-31T22:59:59.000000Z'],
    ['2026-12-31T23:59:59-05:30', '2027-01-01T05:29:59.000000Z'],
    ['2026-12-31T23:59:59+0100', '2026-12-31T22:59:59.000000Z'],
    ['2026-12-31T23:59:59+01', '2026-12-31T22:59:59.000000Z'],
    ['2026-12-31T23:59Z', '2026-12-31T23:59:00.000000Z'],
    ['20261231T235959Z', '2026-12-31T23:59:59.000000Z'],
    ['2028-02-29T12:00:00Z', '2028-02-29T12:00:00.000000Z'],
    ['1999-01-01T00:00:00Z', '1999-01-01T00:00:00.000000Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
  ].map(([sent, shown]) => ({ field: 'expires_at', what: String(sent), sent, shown })),
  { field: 'expires_at', what: 'null for never', sent: null },
]

const REFUSED: readonly { field: string; what: string; sent: unknown; named?: string }[] = [
  { field: 'external_id', what: '2^53', sent: 2 ** 53 },
  { field: 'external_id', what: '10^40', sent: 1e40 },
  { field: 'external_id', what: 'a fraction', sent: 1.5 },
  { field: 'external_id', what: 'digits in a string', sent: '42' },
  { field: 'external_id', what: 'true', sent: true },

  { field: 'tags', what: '51 tags', sent: numbered(51) },
  { field: 'tags', what: 'an empty tag', sent: ['fine', ''], named: 'tags.1' },
  { field: 'tags', what: 'a tag of 51 characters', sent: ['y'.repeat(51)], named: 'tags.0' },
  { field: 'tags', what: 'a control character in a tag', sent: ['a\u0000b'], named: 'tags.0' },
  { field: 'tags', what: 'a tag with half a surrogate pair', sent: ['a\ud800'], named: 'tags.0' },
  { field: 'tags', what: 'a number among the tags', sent: ['one', 2], named: 'tags.1' },
  { field: 'tags', what: 'null among the tags', sent: [null], named: 'tags.0' },
  { field: 'tags', what: 'a string', sent: 'one,two' },
  { field: 'tags', what: 'an object', sent: { 0: 'one' } },

  ...[
    '2026-12-31T23:59:59',
    '2026-12-31',
    '2026-02-30T00:00:00Z',
    '2026-12-31T25:00:00Z',
    '2026-13-01T00:00:00Z',
    '+010000-01-01T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    'tomorrow',
    '1798761599',
    '',
    '2026-12-31T23:59:59Z\r\n',
  ].map((sent) => ({ field: 'expires_at', what: JSON.stringify(sent), sent })),
  { field: 'expires_at', what: 'a number', sent: 1_798_761_599 },
]

const UTM_ACCEPTED = [
  ['text of any script, unchanged', 'Frühling & 春 100% +1?#'],
  ['500 characters', 'u'.repeat(500)],
  ['null', null],
] as const

const UTM_REFUSED = [
  ['501 characters', 'u'.repeat(501)],
  ['an empty text', ''],
  ['a line break', 'a\r\nSet-Cookie: b'],
  ['half a surrogate pair', '\udc00'],
  ['a number', 5],
] as const

function inEveryUtmField(value: unknown): Record<string, unknown> {
  return Object.fromEntries(UTM_FIELDS.map((field) => [field, value]))
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `tag ${index}`)
}

function duplicates() {
  return { sent: ['b', 'a', 'b', 'c', 'a'], shown: ['b', 'a', 'c'] }
}

function manyDuplicates() {
  return { sent: [...numbered(50), ...numbered(50)], shown: numbered(50) }
}

onSqlite('the optional fields of a link', (stage) => {
  test('can all be set at creation', async () => {
    const link = await createLink(stage.api, OPTIONAL_FIELDS)
    for (const [field, value] of Object.entries(OPTIONAL_FIELDS)) {
      assert.deepEqual(link[field], value, field)
    }
    assert.deepEqual(await showLink(stage.api, link.id), { ...link, clicks: 0 })
  })

  let existing: LinkBody
  before(async () => {
    existing = await createLink(stage.api)
  })

  for (const { field, what, sent, shown = sent } of ACCEPTED) {
    test(`${field} accepts ${what}`, async () => {
      const created = await createLink(stage.api, { [field]: sent })
      assert.deepEqual(created[field], shown)
      assert.deepEqual((await showLink(stage.api, created.id))[field], shown)
      const updated = await stage.api.patch(`/links/${existing.id}`, { [field]: sent })
      assert.deepEqual(updated.body[field], shown)
    })
  }

  for (const [what, sent] of UTM_ACCEPTED) {
    test(`the UTM fields accept ${what}`, async () => {
      const link = await createLink(stage.api, inEveryUtmField(sent))
      for (const field of UTM_FIELDS) assert.equal(link[field], sent, field)
    })
  }

  for (const [what, sent] of UTM_REFUSED) {
    test(`the UTM fields return 422 for ${what}`, async () => {
      expectInvalid(await postLink(stage.api, inEveryUtmField(sent)), ...UTM_FIELDS)
    })
  }

  for (const { field, what, sent, named = field } of REFUSED) {
    test(`${field} returns 422 for ${what}`, async () => {
      expectInvalid(await postLink(stage.api, { [field]: sent }), named)
      expectInvalid(await stage.api.patch(`/links/${existing.id}`, { [field]: sent }), named)
    })
  }
})
