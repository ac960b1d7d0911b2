import type { Rule, When } from '@terse/contract/rules'
import fc from 'fast-check'
import { AGENTS, INSTAGRAM, IPAD_CHROME_AS_MAC, MAC_SAFARI } from './agents.ts'
import type { MadeUpVisitor } from './rule-visitors.ts'

const country = fc.constantFrom('DE', 'AT', 'US', 'NO', 'NA', '')
export const arbitraryAgent = fc.constantFrom<string | undefined>(
  ...Object.values(AGENTS),
  MAC_SAFARI,
  IPAD_CHROME_AS_MAC,
  INSTAGRAM,
  undefined,
)
export const arbitraryLanguage = fc.constantFrom(undefined, 'de', 'en-US,de;q=0.9', 'fr;q=0.5', '*')
const someOf = <T>(...values: T[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 })
const plain = fc.record(
  {
    country: someOf('DE', 'EU', 'africa', 'US'),
    device: someOf('phone' as const, 'tablet' as const, 'desktop' as const),
    os: someOf('ios' as const, 'ipados' as const, 'android' as const, 'macos' as const),
    language: someOf('de', 'en-US', 'fr'),
    query: fc.array(
      fc.record({ name: fc.constantFrom('a', 'b'), equals: fc.constantFrom('1', '') }),
      { minLength: 1, maxLength: 2 },
    ),
    bot: fc.boolean(),
    qr: fc.boolean(),
    address: someOf('10.0.0.0/8', '2001:db8::/32', '192.0.2.1'),
  },
  { requiredKeys: [] },
)
/** Some of these, so that some visitors match: those with all of them match hardly any. */
const few = plain.chain((conditions) => {
  const names = Object.keys(conditions) as (keyof typeof conditions)[]
  return fc
    .subarray(names, { maxLength: Math.min(2, names.length) })
    .map((chosen) => Object.fromEntries(chosen.map((name) => [name, conditions[name]])))
})
const when: fc.Arbitrary<When> = fc
  .tuple(
    few,
    fc.option(few, { nil: undefined, freq: 1 }),
    fc.option(fc.array(few, { minLength: 1, maxLength: 3 }), { nil: undefined, freq: 1 }),
  )
  .map(([conditions, not, any]) => ({ ...conditions, ...(not && { not }), ...(any && { any }) }))
const url = fc.constantFrom(
  'https://a.example/{query.a}',
  'https://b.example/',
  'https://c.example/x?b=old&c=%20#part',
  'mailto:ada@example.com',
)
const then: fc.Arbitrary<Rule['then']> = fc.oneof(
  url.map((each) => ({ url: each })),
  fc
    .tuple(
      fc.array(fc.tuple(url, fc.nat(3)), { minLength: 1, maxLength: 3 }),
      fc.constantFrom(undefined, 30),
      fc.constantFrom(undefined, '2020-01-01T00:00:00Z', '2999-01-01T00:00:00Z'),
    )
    .map(([variants, remember_days, at]) => ({
      split: [['https://v.example/', 1] as const, ...variants].map(([each, weight], index) => ({
        ...{ name: `v${index}`, url: each, weight },
      })),
      ...(remember_days !== undefined && { remember_days }),
      ...(at !== undefined && { end: { at, variant: 'v1' } }),
    })),
)

/** Up to eight rules with the ids `r0`, `r1` … */
export const arbitraryRules: fc.Arbitrary<Rule[]> = fc
  .array(fc.tuple(when, then), { maxLength: 8 })
  .map((list) => list.map(([each, to], index) => ({ id: `r${index}`, when: each, then: to })))

/** Addresses, some of which rules name. */
export const arbitraryAddress = fc.constantFrom('10.1.2.3', '192.0.2.1', '2001:db8::7')

/** A visitor as the rules of a link see one. */
export const arbitraryVisitor: fc.Arbitrary<MadeUpVisitor> = fc.record({
  country,
  userAgent: arbitraryAgent,
  acceptLanguage: arbitraryLanguage,
  query: fc.constantFrom('', 'a=1', 'a&b=1', 'qr=1', 'b=1&qr=1'),
  address: fc.oneof(fc.constant(''), arbitraryAddress),
  visitor: fc.maxSafeNat(),
})
