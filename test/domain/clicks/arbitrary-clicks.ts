import fc from 'fast-check'
import { CLICK_FLAGS, cappedClick } from '../../../src/clicks/click.ts'
import type { RawClick } from '../../../src/clicks/report/day-of-clicks.ts'

/** Clicks from `fromMicros` to `toMicros`, of few visitors and few values, so that they coincide. */
export function arbitraryClicks(
  fromMicros: number,
  toMicros: number,
): fc.Arbitrary<readonly RawClick[]> {
  const click = fc.record({
    at: fc.integer({ min: fromMicros, max: toMicros - 1 }),
    link_seq: fc.constant(1),
    flags: fc.constantFrom(0, 0, 0, 1, 4, CLICK_FLAGS.capped),
    count: fc.constant(1),
    visitor: fc.integer({ min: 1, max: 4 }),
    country: fc.constantFrom('', 'DE', 'DE', 'FR'),
    device: fc.constantFrom('', 'mobile', 'desktop'),
    os: fc.constantFrom('', 'iOS'),
    browser: fc.constantFrom('Safari', 'Chrome'),
    referrer: fc.stringMatching(/^[a-d]\.example$/),
    language: fc.constant('de'),
    source: fc.constantFrom('qr', 'direct'),
    rule: fc.constantFrom('', 'phones'),
    variant: fc.constantFrom('', 'A', 'a'),
    label: fc.constantFrom('', 'newsletter', 'Größe'),
    region: fc.constantFrom('', 'US-CA'),
    city: fc.constantFrom('', 'Zürich'),
    link_id: fc.constant(null),
    key: fc.constant(null),
    host: fc.constant(null),
  })
  const anyClick = click.map((one) => {
    if (one.flags !== CLICK_FLAGS.capped) return one
    return { ...one, ...cappedClick(one.link_seq, one.at, 1 + one.visitor * 20) }
  })
  return fc.array(anyClick, { maxLength: 200, size: 'max' })
}
