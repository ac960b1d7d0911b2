import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../../test/support/properties.ts'
import { ClickCap } from './click-maker.ts'

const MINUTE_MICROS = 60_000_000
const NOON = 29_000_000 * MINUTE_MICROS
/** How many pairs of address and link the table holds. */
const PAIRS_MAX = 16_384

function capOf(perMinute: number): ClickCap {
  return new ClickCap(perMinute, [1, 2, 3, 4])
}

/** How many of `clicks` clicks of one address on one link are admitted. */
function admitted(
  cap: ClickCap,
  clicks: number,
  { address = 'a', link = 1, at = NOON }: { address?: string; link?: number; at?: number } = {},
): number {
  const number = cap.addressNumber(address)
  let count = 0
  for (let click = 0; click < clicks; click += 1) {
    if (cap.admits(number, link, at)) count += 1
  }
  return count
}

describe('ClickCap', () => {
  test('admits up to the limit of clicks of one address on one link, and counts the rest', () => {
    const cap = capOf(300)
    assert.equal(admitted(cap, 20_000), 300)
    assert.equal(cap.capped, 19_700)
  })

  test('starts again with each minute of the clock, even when the clock is set back', () => {
    const cap = capOf(5)
    assert.equal(admitted(cap, 9, { at: NOON + MINUTE_MICROS - 1 }), 5)
    assert.equal(admitted(cap, 9, { at: NOON + MINUTE_MICROS }), 5)
    assert.equal(admitted(cap, 9, { at: NOON + 2 * MINUTE_MICROS - 1 }), 0)
    assert.equal(admitted(cap, 9, { at: NOON - 10 * MINUTE_MICROS }), 5)
    assert.equal(admitted(cap, 9, { at: -1 }), 5)
  })

  test('counts each address and each link separately', () => {
    const cap = capOf(3)
    for (let n = 0; n < 200; n += 1) {
      assert.equal(admitted(cap, 5, { address: `192.0.2.${n}` }), 3)
      assert.equal(admitted(cap, 5, { link: 2 + n }), 3)
    }
    assert.equal(cap.capped, 800)
  })

  test('is exact for any order of clicks while the table has room for their pairs', () => {
    const click = fc.record({
      address: fc.constantFrom('a', 'b', 'c'),
      link: fc.constantFrom(1, 2, 2 ** 32 + 1, 2 ** 40),
      minute: fc.nat({ max: 2 }),
    })
    fc.assert(
      fc.property(fc.array(click, { maxLength: 300, size: 'max' }), (clicks) => {
        const cap = capOf(4)
        const seen = new Map<string, number>()
        for (const { address, link, minute } of clicks.toSorted((a, b) => a.minute - b.minute)) {
          const pair = `${address} ${link} ${minute}`
          const before = seen.get(pair) ?? 0
          seen.set(pair, before + 1)
          const at = NOON + minute * MINUTE_MICROS
          assert.equal(cap.admits(cap.addressNumber(address), link, at), before < 4)
        }
      }),
      cases(200),
    )
  })

  test('remembers a flooding address while many others arrive', () => {
    const cap = capOf(10)
    assert.equal(admitted(cap, 15, { address: 'flood' }), 10)
    for (let n = 0; n < 2 * PAIRS_MAX; n += 1) admitted(cap, 1, { address: `visitor ${n}` })
    assert.equal(admitted(cap, 100, { address: 'flood' }), 0)
  })

  test('caps no address early, however many addresses arrive', () => {
    const cap = capOf(2)
    for (let n = 0; n < 2 * PAIRS_MAX; n += 1) admitted(cap, 2, { address: `visitor ${n}` })
    assert.equal(cap.capped, 0)
  })

  test('forgets few pairs while the table is a quarter full, of one address or of one link', () => {
    for (const pairOf of [
      (n: number) => ({ link: n }),
      (n: number) => ({ link: n * 1_024 }),
      (n: number) => ({ address: `2001:db8:${n.toString(16)}::/64` }),
    ]) {
      const cap = capOf(1)
      let admittedTwice = 0
      for (let n = 1; n <= PAIRS_MAX / 4; n += 1) admitted(cap, 1, pairOf(n))
      for (let n = 1; n <= PAIRS_MAX / 4; n += 1) admittedTwice += admitted(cap, 1, pairOf(n))
      assert.ok(admittedTwice < PAIRS_MAX / 200, `${admittedTwice} were forgotten`)
    }
  })
})
