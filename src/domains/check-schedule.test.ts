import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../test/support/properties.ts'
import { SEED } from '../../test/support/random.ts'
import { type CheckSchedule, decideCheck, newSchedule } from './check-schedule.ts'
import type { Verdict } from './dns-judgement.ts'
import type { DomainStatus } from './domain.ts'

const MINUTE = 60_000_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = 1_750_000_000_000_000

const verdicts = fc.constantFrom<Verdict>('proved', 'unproved', 'unknown')

/** The verdicts of consecutive checks, each with the time since the previous one. */
const histories = fc.array(
  fc.record({ verdict: verdicts, wait: fc.integer({ min: 0, max: 3 * DAY }) }),
  {
    maxLength: 60,
  },
)

/** Applies a history; yields each check with the status before and after it. */
function play(history: readonly { verdict: Verdict; wait: number }[]) {
  let status: DomainStatus = 'pending'
  let schedule: CheckSchedule = newSchedule(START)
  let now = START
  return history.map(({ verdict, wait }) => {
    now += wait
    const before: DomainStatus = status
    const outcome = decideCheck(status, schedule, verdict, now)
    if (outcome.change === 'activate') status = 'active'
    if (outcome.change === 'deactivate') status = 'pending'
    schedule = outcome.schedule
    return { before, after: status as DomainStatus, verdict, now, ...outcome }
  })
}

test(`a domain’s status changes only on a definite DNS answer (FUZZ_SEED=${SEED})`, () => {
  fc.assert(
    fc.property(histories, (history) => {
      for (const { before, after, verdict } of play(history)) {
        if (before === 'pending' && after === 'active') assert.equal(verdict, 'proved')
        if (before === 'active' && after === 'pending') assert.equal(verdict, 'unproved')
        if (verdict === 'unknown') assert.equal(after, before)
      }
    }),
    cases(500),
  )
})

test('an active domain becomes pending after seven days without its proof, and not before', () => {
  fc.assert(
    fc.property(histories, (history) => {
      let missingSince: number | undefined
      for (const { before, after, verdict, now } of play(history)) {
        if (before === 'active') {
          if (verdict === 'proved') missingSince = undefined
          if (verdict === 'unproved') missingSince ??= now
          const isOver = missingSince !== undefined && now - missingSince >= 7 * DAY
          assert.equal(after === 'pending', isOver && verdict === 'unproved')
        }
        if (after === 'pending') missingSince = undefined
      }
    }),
    cases(500),
  )
})

test('an active domain is checked every six hours', () => {
  fc.assert(
    fc.property(histories, (history) => {
      for (const { after, schedule, now } of play(history)) {
        if (after === 'active') assert.equal(schedule.next_at, now + 6 * HOUR)
      }
    }),
    cases(200),
  )
})

test('a pending domain is checked after 1, 2, 4 … minutes, at most four hours apart, for seven days', () => {
  let schedule = newSchedule(START)
  const waits: number[] = []
  let now = START
  while (schedule.next_at !== null) {
    if (schedule.next_at > now) waits.push((schedule.next_at - now) / MINUTE)
    now = schedule.next_at
    schedule = decideCheck('pending', schedule, 'unproved', now).schedule
  }
  assert.deepEqual(waits.slice(0, 9), [1, 2, 4, 8, 16, 32, 64, 128, 240])
  assert.ok(waits.slice(8).every((wait) => wait === 240))
  assert.ok(now - START <= 7 * DAY && now - START > 7 * DAY - 4 * HOUR)
})

test('a domain leaves the schedule after a finite number of checks, even when the clock jumps back', () => {
  fc.assert(
    fc.property(fc.integer({ min: -400 * DAY, max: 0 }), verdicts, (jump, verdict) => {
      const status = 'pending'
      let { schedule } = decideCheck(status, newSchedule(START), 'unproved', START + jump)
      let checks = 0
      for (let now = schedule.next_at; now !== null; now = schedule.next_at) {
        const { schedule: next } = decideCheck(
          status,
          schedule,
          verdict === 'proved' ? 'unknown' : verdict,
          now,
        )
        schedule = next
        checks += 1
        assert.ok(checks < 100)
      }
    }),
    cases(200),
  )
})
