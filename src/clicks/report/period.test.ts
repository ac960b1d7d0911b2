import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure, FaultList } from '../../platform/failure.ts'
import { type PeriodInput, parsePeriod } from './period.ts'

const NOW = '2026-11-21T10:20:30.123456Z'

function microsOf(text: string): number {
  return Number(Temporal.Instant.from(text).epochNanoseconds / 1_000n)
}

function parse(input: PeriodInput) {
  const faults = new FaultList()
  const period = parsePeriod(input, microsOf(NOW), faults)
  faults.throwIfAny()
  assert.ok(period)
  return period
}

/** The names of the refused fields. */
function refused(input: PeriodInput): string[] {
  try {
    parse(input)
    return []
  } catch (error) {
    assert.ok(error instanceof Failure && error.fields)
    return Object.keys(error.fields).sort()
  }
}

describe('parsePeriod', () => {
  for (const [input, from, to] of [
    [{}, '2026-10-23T00:00:00Z', '2026-11-21T10:20:30.123457Z'],
    [{ timezone: 'Europe/Berlin' }, '2026-10-22T22:00:00Z', '2026-11-21T10:20:30.123457Z'],
    [{ timezone: 'Pacific/Kiritimati' }, '2026-10-23T10:00:00Z', '2026-11-21T10:20:30.123457Z'],
    [{ to: '2026-11-01' }, '2026-10-02T00:00:00Z', '2026-11-01T00:00:00Z'],
    [
      { to: '2026-11-01', timezone: 'Europe/Berlin' },
      '2026-10-01T22:00:00Z',
      '2026-10-31T23:00:00Z',
    ],
    [{ from: '2026-11-20' }, '2026-11-20T00:00:00Z', '2026-11-21T10:20:30.123457Z'],
    [
      { from: '2026-03-29', to: '2026-03-30', timezone: 'Europe/Berlin' },
      '2026-03-28T23:00:00Z',
      '2026-03-29T22:00:00Z',
    ],
    [
      { from: '2026-09-06', to: '2026-09-07', timezone: 'America/Santiago' },
      '2026-09-06T04:00:00Z',
      '2026-09-07T03:00:00Z',
    ],
    [
      { from: '2026-11-01T09:30:00.1234567+01:00', to: '2026-11-01T12:00:00Z' },
      '2026-11-01T08:30:00.123456Z',
      '2026-11-01T12:00:00Z',
    ],
    [{ from: '2016-11-20', to: '2026-11-21' }, '2016-11-20T00:00:00Z', '2026-11-21T00:00:00Z'],
    [{ from: '2030-01-01', to: '2030-02-01' }, '2030-01-01T00:00:00Z', '2030-02-01T00:00:00Z'],
  ] as const) {
    test(`parses ${JSON.stringify(input)} as ${from} to ${to}`, () => {
      const { fromMicros, toMicros, zone } = parse(input)
      assert.deepEqual([fromMicros, toMicros], [microsOf(from), microsOf(to)])
      assert.equal(zone, 'timezone' in input ? input.timezone : 'UTC')
    })
  }

  for (const [input, ...fields] of [
    [{ from: '2026-11-01', to: '2026-11-01' }, 'from'],
    [{ from: '2026-11-02', to: '2026-11-01' }, 'from'],
    [{ from: '2026-11-22' }, 'from'],
    [{ from: '2016-11-19', to: '2026-11-21' }, 'from'],
    [{ from: '' }, 'from'],
    [{ from: 'yesterday' }, 'from'],
    [{ from: '2026-11-01T09:30:00' }, 'from'],
    [{ from: '2026-02-30' }, 'from'],
    [{ from: '20261101' }, 'from'],
    [{ from: '1999-12-31' }, 'from'],
    [{ to: '2200-01-01' }, 'to'],
    [{ to: '-000001-01-01T00:00:00Z' }, 'to'],
    [{ from: 'x', to: 'y', timezone: 'z' }, 'from', 'timezone', 'to'],
    [{ from: 'x', to: '2026-11-01' }, 'from'],
    [{ timezone: '' }, 'timezone'],
    [{ timezone: 'Berlin' }, 'timezone'],
    [{ timezone: '+01:00' }, 'timezone'],
    [{ timezone: '2026-01-01T00:00[Europe/Berlin]' }, 'timezone'],
    [{ timezone: '../UTC' }, 'timezone'],
    [{ timezone: 'a/'.repeat(50_000) }, 'timezone'],
  ] as const) {
    test(`refuses ${fields.join(' and ')} of ${JSON.stringify(input).slice(0, 80)}`, () => {
      assert.deepEqual(refused(input), fields)
    })
  }

  test('accepts a time zone in any letter case', () => {
    assert.equal(parse({ timezone: 'europe/BERLIN' }).zone, 'Europe/Berlin')
  })
})
