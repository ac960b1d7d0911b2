import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Clock, systemClock } from '../../src/platform/time/clock.ts'
import { expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const HOUR_MICROS = 60 * 60 * 1_000_000
const DAY_MICROS = 24 * HOUR_MICROS
const VISITS = 20

/** A running clock that can be set. */
function settableClock(startMicros: number): Clock & { set(micros: number): void } {
  const system = systemClock()
  let ahead = startMicros - system.nowMicros()
  return {
    nowMicros: () => system.nowMicros() + ahead,
    set(micros) {
      ahead = micros - system.nowMicros()
    },
  }
}

for (const engine of ENGINES) {
  describe(`a clock that is set during visits, on ${engine.title}`, () => {
    test('loses no click, moves no last click back, and gives each day its own salt', async (t) => {
      // Half past midnight, so that an hour earlier is another day.
      const start = Date.UTC(2026, 5, 1, 0, 30) * 1_000
      const clock = settableClock(start)
      const service = await startService(engine, {}, { clock })
      t.after(() => service.stop())
      const api = await service.api()
      const link = { domain: 'localhost', key: 'clock', url: 'https://example.com/' }
      const { id } = expectStatus(await api.post('/links', link), 201).body
      const { read } = service.instance.store
      const saltOf = (micros: number) => read.visitorSalts.find(Math.floor(micros / DAY_MICROS))
      const [today, tomorrow] = [await saltOf(start), await saltOf(start + DAY_MICROS)]
      assert.ok(today && tomorrow && today !== tomorrow)

      let visits = 0
      /**
       * The latest instant to which the clock was set, and the latest possible instant of a visit.
       */
      let furthest = start
      let latest = start
      const settings: readonly [name: string, micros: number][] = [
        ['where it was', start],
        ['back by an hour', start - HOUR_MICROS],
        ['where it was again', start],
        ['forward by three days', start + 3 * DAY_MICROS],
        ['back where it was', start],
      ]
      for (const [name, micros] of settings) {
        clock.set(micros)
        furthest = Math.max(furthest, micros)
        for (let count = 0; count < VISITS; count += 1) {
          const answer = await visit(service.port, '/clock')
          assert.equal(answer.status, 302, name)
        }
        visits += VISITS
        latest = Math.max(latest, clock.nowMicros())
        await eventually(async () => {
          const { body } = await api.get(`/links/${id}`)
          assert.equal(body.clicks, visits, name)
          assert.ok(body.last_click >= Math.floor(furthest / 1e6), name)
          assert.ok(body.last_click <= latest / 1e6, name)
          assert.ok(await saltOf(micros), name)
        })
        if (furthest === start) assert.equal(await saltOf(start), today, `${name}: the same salt`)
      }
    })
  })
}
