import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../../test/support/properties.ts'
import { dayOf, formatDay, parseDay, SLOTS_PER_DAY, slotOf, startOfDay } from './click-day.ts'

describe('the day and slot of a click', () => {
  test('are its UTC date and its quarter hour', () => {
    const micros = fc.integer({ min: -(2 ** 53) + 1, max: 2 ** 53 - 1 })
    fc.assert(
      fc.property(micros, (at) => {
        const date = new Date(Math.floor(at / 1_000))
        assert.equal(formatDay(dayOf(at)), date.toISOString().slice(0, 10))
        const quarter = date.getUTCHours() * 4 + Math.floor(date.getUTCMinutes() / 15)
        assert.equal(slotOf(at), quarter)
        assert.ok(startOfDay(dayOf(at)) <= at)
        assert.ok(slotOf(at) >= 0 && slotOf(at) < SLOTS_PER_DAY)
        assert.equal(parseDay(formatDay(dayOf(at))), dayOf(at))
      }),
      cases(1_000),
    )
  })

  test('parseDay refuses anything but a valid date', () => {
    for (const text of [
      '',
      '2026',
      '2026-11',
      '2026-13-01',
      '2026-02-30',
      '26-11-21',
      'a',
      '2026-11-21Z',
    ]) {
      assert.equal(parseDay(text), undefined, text)
    }
  })
})
