import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../test/support/properties.ts'
import { decideExpired, parseRetention } from './retention.ts'

const at = (text: string) => ({ name: text, at: new Date(`${text}:00:00Z`) })
const expired = (instants: readonly string[], keep: string, kept: readonly string[] = []) => {
  const retention = parseRetention(keep)
  if (retention === undefined) throw new Error(`${keep} is not a retention`)
  return decideExpired(instants.map(at), retention, new Set(kept)).map(({ name }) => name)
}

describe('decideExpired', () => {
  test('keeps the last backup of each day', () => {
    const instants = ['2026-11-20T06', '2026-11-20T18', '2026-11-21T06', '2026-11-22T06']
    assert.deepEqual(expired(instants, '3d'), ['2026-11-20T06'])
  })

  test('counts days that have a backup, so that a pause removes nothing', () => {
    const instants = ['2026-01-01T06', '2026-06-01T06', '2026-11-22T06']
    assert.deepEqual(expired(instants, '3d'), [])
  })

  test('adds up days, weeks that begin on Monday, and months', () => {
    // 2026-11-22 is a Sunday.
    const instants = [
      '2026-10-01T06',
      '2026-11-14T06',
      '2026-11-16T06',
      '2026-11-21T06',
      '2026-11-22T06',
    ]
    assert.deepEqual(expired(instants, '1d,2w,2m'), ['2026-11-21T06', '2026-11-16T06'])
  })

  test('keeps the newest backup and those that are needed in any case', () => {
    const instants = ['2026-11-22T05', '2026-11-22T06', '2026-11-22T07']
    assert.deepEqual(expired(instants, '1m', ['2026-11-22T05']), ['2026-11-22T06'])
  })

  test('treats backups of the future as newest', () => {
    assert.deepEqual(expired(['2026-11-22T05', '2096-11-22T06'], '1d'), ['2026-11-22T05'])
  })
})

describe('decideExpired, for any backups,', () => {
  const HOUR_MS = 3_600_000
  const units = { h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS, m: 31 * 24 * HOUR_MS }
  const backups = fc
    .uniqueArray(fc.integer({ min: 0, max: 900 * 24 * 12 }), { maxLength: 80 })
    .map((slots) =>
      slots.map((slot) => ({
        name: String(slot),
        at: new Date(Date.UTC(2026, 0) + slot * 300_000),
      })),
    )
  const rules = fc.array(
    fc.record({
      count: fc.integer({ min: 1, max: 30 }),
      unit: fc.constantFrom('h' as const, 'd' as const, 'w' as const, 'm' as const),
    }),
    { minLength: 1, maxLength: 4 },
  )
  type Backups = { name: string; at: Date }[]
  const left = (all: Backups, expiring: readonly { name: string }[]) =>
    all.filter(({ name }) => !expiring.some((each) => each.name === name))
  const newestOf = (all: Backups) => all.toSorted((a, b) => b.at.getTime() - a.at.getTime())

  test('never removes the newest one, those that are needed, or what it kept before', () => {
    const property = fc.property(backups, rules, fc.nat(), (all, retention, nth) => {
      const needed = new Set(all.slice(nth % (all.length + 1)).map(({ name }) => name))
      const kept = left(all, decideExpired(all, retention, needed))
      const names = new Set(kept.map(({ name }) => name))
      const [newest] = newestOf(all)
      assert.ok(newest === undefined || names.has(newest.name))
      for (const name of needed) assert.ok(names.has(name))
      assert.deepEqual(decideExpired(kept, retention, needed), [])
    })
    fc.assert(property, cases(200))
  })

  test('keeps one of each of the last periods, and as many as each rule says', () => {
    const property = fc.property(backups, rules, (all, retention) => {
      const kept = left(all, decideExpired(all, retention, new Set()))
      for (const { count, unit } of retention) {
        const [newest] = newestOf(all)
        for (const { at } of all) {
          const ageMs = (newest?.at.getTime() ?? 0) - at.getTime()
          if (ageMs >= (count - 1) * (unit === 'm' ? 28 * 24 * HOUR_MS : units[unit])) continue
          const isCovered = kept.some((each) => {
            const laterMs = each.at.getTime() - at.getTime()
            return laterMs >= 0 && laterMs < units[unit]
          })
          assert.ok(isCovered, `${at.toISOString()} by ${count}${unit}`)
        }
      }
      const most = retention.reduce((sum, { count }) => sum + count, 1)
      assert.ok(kept.length <= most)
    })
    fc.assert(property, cases(200))
  })

  test('removes no more when a rule is added', () => {
    const property = fc.property(backups, rules, rules, (all, some, others) => {
      const few = decideExpired(all, [...some, ...others], new Set())
      const names = new Set(decideExpired(all, some, new Set()).map(({ name }) => name))
      for (const { name } of few) assert.ok(names.has(name))
    })
    fc.assert(property, cases(200))
  })
})

describe('the default', () => {
  test('keeps every backup of the last days when one is made each six hours', () => {
    const retention = parseRetention('24h,14d,8w,12m')
    assert.ok(retention)
    const all = Array.from({ length: 400 }, (_, index) => ({
      name: String(index),
      at: new Date(Date.UTC(2026, 10, 22, 18) - index * 6 * 3_600_000),
    }))
    const expiring = new Set(decideExpired(all, retention, new Set()).map(({ name }) => name))
    for (const { name } of all.slice(0, 24)) assert.ok(!expiring.has(name))
    assert.ok(all.length - expiring.size <= 24 + 14 + 8 + 12)
  })
})

describe('parseRetention', () => {
  test('reads hours, days, weeks and months', () => {
    assert.deepEqual(parseRetention('24h, 14d,8w,12m'), [
      { count: 24, unit: 'h' },
      { count: 14, unit: 'd' },
      { count: 8, unit: 'w' },
      { count: 12, unit: 'm' },
    ])
  })

  for (const text of ['', '14', '0d', '14d,,8w', '14d 8w', '99999d', '1y']) {
    test(`refuses "${text}"`, () => assert.equal(parseRetention(text), undefined))
  }
})
