import fc from 'fast-check'
import { CLICK_FLAGS, type Click, cappedClick } from '../../src/clicks/click.ts'

/** Days before and after 1970, and today. */
const DAYS = [-1, 0, 1, 20_000, 20_001, 20_778]
const DAY_MICROS = 86_400_000_000

const instant = fc
  .tuple(
    fc.constantFrom(...DAYS),
    fc.oneof(fc.nat({ max: DAY_MICROS - 1 }), fc.constantFrom(0, DAY_MICROS - 1)),
  )
  .map(([day, within]) => day * DAY_MICROS + within)

const value = (...usual: string[]) => fc.constantFrom('', ...usual)

/** Most clicks have none; one rule divides visitors, one does not. */
const SPARSE_VALUES = {
  rule: fc.constantFrom('', '', '', 'phones', 'split'),
  variant: fc.constantFrom('', '', '', 'A', 'a', 'größer'),
  label: fc.constantFrom('', '', '', 'newsletter', 'größer'),
  region: fc.constantFrom('', '', '', 'US-CA'),
  city: fc.constantFrom('', '', '', 'San Diego', 'Zürich'),
}

/** Any click on one of the links, with few enough visitors to be counted exactly. */
export function arbitraryClick(linkSeqs: readonly number[]): fc.Arbitrary<Click> {
  const click = fc.record(
    {
      at: instant,
      link_seq: fc.constantFrom(...linkSeqs),
      flags: fc.constantFrom(
        0,
        0,
        0,
        CLICK_FLAGS.bot,
        CLICK_FLAGS.head | CLICK_FLAGS.prefetch,
        CLICK_FLAGS.capped,
      ),
      count: fc.constant(1),
      visitor: fc.nat({ max: 300 }).map((n) => n * 7_919_000_000_019),
      country: value('DE', 'US', 'FR', 'JP'),
      device: value('desktop', 'mobile', 'tablet'),
      os: value('iOS', 'Windows'),
      browser: value('Safari', 'Chrome'),
      referrer: fc.oneof(
        value('www.example.com'),
        fc.nat({ max: 40 }).map((n) => `host-${n}.example`),
        fc.constant(`${'long.'.repeat(50)}exa`),
      ),
      language: value('de', 'en'),
      source: fc.constantFrom('qr', 'direct'),
      ...SPARSE_VALUES,
    },
    { noNullPrototype: true },
  )
  return click.map((one) =>
    one.flags === CLICK_FLAGS.capped
      ? cappedClick(one.link_seq, one.at, 1 + (one.visitor % 50))
      : one,
  )
}
