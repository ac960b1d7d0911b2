import fc from 'fast-check'
import { anyCharacter, webUrl } from '../support/properties.ts'
import type { JsonSchema } from './openapi-operations.ts'

declare global {
  interface JSON {
    /** A number as it is written in the JSON, such as one that no double represents. */
    rawJSON(text: string): object
  }
}

/** Few distinct hosts for half of the requests, so that requests meet what earlier ones created. */
const host = fc.oneof(
  { weight: 4, arbitrary: fc.constant('localhost') },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'go.localhost',
      'a.b.localhost',
      'foreign.localhost',
      'GO.localhost.',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('go.example.com', 'münchen.example', '例え.テスト', 'l.acme.test'),
  },
  { weight: 8, arbitrary: fc.stringMatching(/^[a-z]{3}\.localhost$/) },
)

const destination = fc.oneof(
  webUrl,
  fc.constantFrom(
    'https://example.com/ä?q=ü#é',
    'HTTPS://EXAMPLE.com:443/%zz',
    'http://[2001:db8::1]:8080/',
    'https://xn--mnchen-3ya.example/a b',
    'https://example.com/?utm_source=x&utm_source=y',
  ),
)

const instant = fc
  .date({ noInvalidDate: true, min: new Date('2026-01-01'), max: new Date('2027-01-01') })
  .map((date) => date.toISOString())

/** Values whose meaning the schema does not express, by field name. */
const MEANINGFUL: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  domain: host,
  url: destination,
  ios: fc.option(destination),
  android: fc.option(destination),
  expired_redirect_url: fc.option(destination),
  not_found_url: fc.option(destination),
  expired_url: fc.option(destination),
  key: fc.oneof(
    fc.stringMatching(/^[a-z]{2,8}$/),
    fc.constantFrom('dup', 'DUP', 'straße', 'a/b/c', 'ключ', '~.-_', 'e\u0301'),
  ),
  expires_at: fc.oneof(
    fc.constant(null),
    fc.date({ noInvalidDate: true, min: new Date(0) }).map((date) => date.toISOString()),
    fc.constantFrom('9999-12-31T23:59:59.999999Z', '2030-02-28T23:59:60+14:00'),
  ),
  from: fc.oneof(instant, fc.constantFrom('2026-11-01', '2016-02-29', '2026-03-29T02:30:00+01:00')),
  to: fc.oneof(instant, fc.constantFrom('2026-12-01', '2030-01-01', '2026-10-25T02:30:00Z')),
  timezone: fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'asia/kathmandu',
    'Australia/Lord_Howe',
    'GMT0',
  ),
  // Sealing a password costs a thousand times as much as any other request.
  password: fc.oneof(
    { weight: 30, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom('secret', 'sealed_AAAA', '密码', 'p'.repeat(512)) },
  ),
}

export const HOSTILE_TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  'a\r\nSet-Cookie: x=y',
  '\u0085\u2028\u2029',
  '\ud800',
  'a\udfffb',
  '\ufeff',
  '\uffff',
  '\u202etxt.exe',
  '𝒳'.repeat(100),
  'e\u0301'.repeat(200),
  'İıſK',
  '__proto__',
  'constructor',
  '%00%ff%zz',
  "'; drop table links; --",
  '<script>alert(1)</script>',
  '../../../../etc/passwd',
  'javascript:alert(1)',
  'data:text/html,x',
  'http://user:secret@example.com/',
  'http://',
  'http://a b/',
  '//example.com',
  'http://localhost/loop',
  'http://go.localhost:80/loop',
  `https://example.com/${'a'.repeat(8_200)}`,
  'x'.repeat(5_000),
  'a.'.repeat(130),
  'co.uk',
  '127.0.0.1',
  '[::1]',
  'xn--a',
  'xn--\u00fc',
  '.',
  '-.-',
  '2026-02-30T00:00:00Z',
  '2026-01-01',
  '+275760-09-13T00:00:00Z',
  '-000001-01-01T00:00:00Z',
  '1'.repeat(400),
] as const

const EXTREME_NUMBERS = [
  ...['0', '-0', '-1', '1.5', '1e400', '-1e400', '1e-400', '9007199254740991', '9007199254740992'],
  ...['-9007199254740992', '9223372036854775808', '18446744073709551616', '1'.repeat(400)],
].map((text) => JSON.rawJSON(text))

function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = null
  for (let level = 0; level < depth; level += 1) value = wrap(value)
  return value
}

/** Values that a field does not expect. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<unknown>(...HOSTILE_TEXTS) },
  // Mostly values that a database may fail on.
  { weight: 6, arbitrary: fc.constantFrom<unknown>('a\0b', '\0', 'a\ud800', '\r\n') },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(...EXTREME_NUMBERS) },
  { weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 300 }) },
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 4, noUnicodeString: false }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      [],
      {},
      [null],
      [[]],
      Array.from({ length: 2_000 }, () => 'tag'),
      Array.from({ length: 51 }, (_, index) => `tag${index}`),
      objectOf([['__proto__', { admin: true }]]),
      objectOf([['constructor', { prototype: { admin: true } }]]),
      objectOf([['toString', 'x']]),
      Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`field${index}`, index])),
      nested(2_000, (inner) => [inner]),
      nested(1_000, (inner) => ({ a: inner })),
    ),
  },
)

/** An object with these fields as its own properties, whatever their names. */
function objectOf(entries: readonly (readonly [string, unknown])[]): unknown {
  return Object.fromEntries(entries)
}

/** A value that the schema allows; a meaningful one where the field’s name says more than the schema. */
export function conforming(schema: JsonSchema, name = ''): fc.Arbitrary<unknown> {
  const meaningful = MEANINGFUL[name]
  return meaningful ?? fromSchema(schema)
}

function fromSchema(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => fromSchema(one)))
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (typeof schema.type === 'object') {
    return fc.oneof(...schema.type.map((type) => fromSchema({ ...schema, type })))
  }
  switch (schema.type) {
    case 'string':
      return textOf(schema)
    case 'integer':
      return integerOf(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(fromSchema(schema.items ?? {}), { maxLength: 5 })
    case 'object':
      return objectFrom(schema)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function textOf({ pattern, minLength = 0, maxLength }: JsonSchema): fc.Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern))
  const short = fc.string({
    unit: fc.constantFrom(...'abcXYZ019 -äß中é😀'),
    minLength,
    maxLength: Math.min(maxLength ?? 20, 20),
  })
  if (maxLength === undefined) return short
  return fc.oneof({ weight: 9, arbitrary: short }, fc.constant('x'.repeat(maxLength)))
}

function integerOf({ minimum = -1_000, maximum = 1_000 }: JsonSchema): fc.Arbitrary<number> {
  const small = Math.max(minimum, -3)
  return fc.oneof(
    fc.maxSafeInteger().map((number) => Math.min(Math.max(number, minimum), maximum)),
    fc.integer({ min: small, max: Math.min(maximum, small + 6) }),
    fc.constantFrom(minimum, maximum),
  )
}

/** Optional fields are mostly left out, as clients do. */
function objectFrom({ properties = {}, required = [] }: JsonSchema): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const field = conforming(schema, name).map((value) => [[name, value]] as const)
    if (required.includes(name)) return field
    return fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: field })
  })
  return fc.tuple(...fields).map((entries) => objectOf(entries.flat()))
}

/** An object of the schema with some wrong fields. */
export function nearlyConforming(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { properties = {}, required = [] } = schema.anyOf?.[0] ?? schema
  const names = Object.keys(properties)
  const overLimit = names.flatMap((name) => pastLimits(name, properties[name] ?? {}))
  const wrongField = fc.oneof(
    ...(names.length > 0
      ? [{ weight: 4, arbitrary: fc.tuple(fc.constantFrom(...names), hostileValue) }]
      : []),
    ...(overLimit.length > 0 ? [fc.constantFrom(...overLimit)] : []),
    fc.tuple(
      fc.constantFrom<string>('colour', '__proto__', 'constructor', ...HOSTILE_TEXTS),
      hostileValue,
    ),
  )
  const wrong = fc.array(wrongField, { minLength: 1, maxLength: 2 })
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(conforming(schema), wrong)
        .map(([value, entries]) => objectOf([...Object.entries(value ?? {}), ...entries])),
    },
    {
      weight: required.length > 0 ? 1 : 0,
      arbitrary: fc.tuple(conforming(schema), fc.nat()).map(([value, nth]) => ({
        ...(value as object),
        [required[nth % required.length] ?? '']: undefined,
      })),
    },
  )
}

/** Values just outside the limits that the schema sets for a field. */
function pastLimits(name: string, schema: JsonSchema): [string, unknown][] {
  return [schema, ...(schema.anyOf ?? [])].flatMap(({ maxLength, minimum, maximum }) => [
    ...(maxLength === undefined ? [] : [[name, 'x'.repeat(maxLength + 1)] as [string, unknown]]),
    ...(minimum === undefined ? [] : [[name, minimum - 1] as [string, unknown]]),
    ...(maximum === undefined ? [] : [[name, maximum + 1] as [string, unknown]]),
  ])
}
