import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FullStore } from '../../../src/app/database/stores.ts'
import { VisitorSalts } from '../../../src/clicks/record/visitor-salts.ts'
import { systemRandom } from '../../../src/platform/crypto/random.ts'
import { Failure } from '../../../src/platform/failure.ts'
import { eventually } from '../../support/eventually.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { describeStore } from '../../support/store.ts'

const DAY_SECONDS = 24 * 60 * 60
const MINUTE_MS = 60_000

/** Separate days for each test, because all tests share one database. */
let nextStretchMs = Date.UTC(2026, 0, 1, 12)
function newClock(): FakeClock {
  nextStretchMs += 100 * DAY_SECONDS * 1_000
  return fakeClock(nextStretchMs)
}

const dayOf = (clock: FakeClock) => Math.floor(clock.nowMicros() / 1e6 / DAY_SECONDS)

/** A store that is unavailable while `away` is set. */
function storeWithOutages(store: FullStore): { store: FullStore; away: boolean } {
  const state = { store, away: false }
  const refuse = () => {
    if (state.away) throw Failure.unavailable(new Error('away'))
  }
  state.store = {
    ...store,
    read: Object.create(store.read, {
      visitorSalts: {
        value: {
          ...store.read.visitorSalts,
          async find(day: number) {
            refuse()
            return store.read.visitorSalts.find(day)
          },
        },
      },
    }),
    async write(work) {
      refuse()
      return store.write(work)
    },
  }
  return state
}

describeStore('VisitorSalts', (at) => {
  async function start(t: TestContext, clock: FakeClock, store = at.store) {
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const salts = new VisitorSalts({ store, clock, random: systemRandom, onError })
    await salts.start()
    t.after(() => salts.stop())
    const now = () => salts.at(clock.nowMicros())
    return { salts, now, errors }
  }
  const kept = (day: number) => at.store.read.visitorSalts.find(day)

  test('are the same on all nodes, and after a restart', async (t) => {
    const clock = newClock()
    const other = await at.another()
    const [one, two] = await Promise.all([start(t, clock), start(t, clock, other.store)])
    assert.equal(one.now().text, two.now().text)
    assert.match(one.now().text, /^[0-9a-f]{32}$/)
    assert.equal(one.now(), one.now(), 'the salt is cached')
    const restarted = await start(t, clock)
    assert.equal(restarted.now().text, one.now().text)
  })

  test('differ from day to day, and are created a day ahead', async (t) => {
    const clock = newClock()
    const { now } = await start(t, clock)
    const today = now()
    const tomorrow = await kept(dayOf(clock) + 1)
    clock.move(DAY_SECONDS)
    assert.equal(now().text, tomorrow)
    assert.notEqual(now().text, today.text)
    assert.equal(now().day, today.day + 1)
    clock.move(-DAY_SECONDS)
    assert.equal(now().text, today.text, 'a clock that was set back gets that day’s salt again')
  })

  test('change at midnight UTC, to the microsecond', async (t) => {
    const clock = newClock()
    const { salts } = await start(t, clock)
    const midnight = (dayOf(clock) + 1) * DAY_SECONDS * 1e6
    assert.equal(salts.at(midnight - 1).day, dayOf(clock))
    assert.equal(salts.at(midnight).day, dayOf(clock) + 1)
  })

  test('are deleted when the following day is over', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const clock = newClock()
    const first = dayOf(clock)
    const { now } = await start(t, clock)
    for (const [days, gone] of [
      [1, false],
      [2, true],
    ] as const) {
      clock.move(DAY_SECONDS)
      t.mock.timers.tick(MINUTE_MS)
      await eventually(async () =>
        assert.ok(await kept(first + days + 1), 'the next day’s salt exists'),
      )
      await eventually(async () => assert.equal((await kept(first)) === undefined, gone))
    }
    assert.equal(now().day, first + 2)
  })

  test('are available on an unprepared day while the store is unavailable', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const clock = newClock()
    const state = storeWithOutages(at.store)
    const { now, errors } = await start(t, clock, state.store)
    state.away = true
    clock.move(3 * DAY_SECONDS)
    const own = now()
    assert.equal(now(), own)
    for (let minute = 1; minute <= 3; minute += 1) {
      t.mock.timers.tick(MINUTE_MS)
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal(errors.length, 1, 'the error is reported once')
    assert.equal(now(), own)

    state.away = false
    t.mock.timers.tick(MINUTE_MS)
    await eventually(async () => assert.equal(await kept(own.day), own.text, 'the salt is stored'))
    assert.equal(now(), own)
  })

  test('are replaced by the salts of a node that stored its own first', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const clock = newClock()
    const state = storeWithOutages(at.store)
    const { now } = await start(t, clock, state.store)
    state.away = true
    clock.move(3 * DAY_SECONDS)
    const own = now()
    const faster = await start(t, clock)
    assert.notEqual(faster.now().text, own.text)
    state.away = false
    t.mock.timers.tick(MINUTE_MS)
    await eventually(async () => assert.equal(now().text, faster.now().text))
  })

  test('refuse to start while the store is unavailable', async () => {
    const state = storeWithOutages(at.store)
    state.away = true
    const onError = () => {}
    const options = { store: state.store, clock: newClock(), random: systemRandom, onError }
    await assert.rejects(new VisitorSalts(options).start())
  })
})
