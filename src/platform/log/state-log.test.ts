import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pino } from 'pino'
import { StateLog } from './state-log.ts'

const QUIET_MS = 60_000

function openLog(quietMs?: number) {
  const lines: Record<string, unknown>[] = []
  const log = pino(
    { base: null, timestamp: false },
    { write: (line) => lines.push(JSON.parse(line)) },
  )
  const options = {
    log,
    level: 'warn',
    begins: 'requests refused',
    ends: 'requests accepted again',
  } as const
  return { lines, states: new StateLog(quietMs === undefined ? options : { ...options, quietMs }) }
}

describe('StateLog', () => {
  test('logs one line for thousands of reports, with the fields of the first', () => {
    const { lines, states } = openLog()
    for (let nth = 0; nth < 2_000; nth += 1) states.report('full', { nth })
    assert.deepEqual(lines, [{ level: 40, kind: 'full', nth: 0, msg: 'requests refused' }])
  })

  test('logs the end with the number of reports, and the next beginning again', () => {
    const { lines, states } = openLog()
    states.report('full', {}, 3)
    states.report('full', {}, 4)
    states.end('full')
    states.end('full')
    states.report('full')
    assert.deepEqual(
      lines.map(({ msg, count }) => [msg, count]),
      [
        ['requests refused', undefined],
        ['requests accepted again', 7],
        ['requests refused', undefined],
      ],
    )
  })

  test('ends all kinds at once', () => {
    const { lines, states } = openLog()
    states.report('full')
    states.report('slow')
    states.endAll()
    assert.deepEqual(
      lines.slice(2).map(({ kind }) => kind),
      ['full', 'slow'],
    )
  })

  test('keeps kinds apart', () => {
    const { lines, states } = openLog()
    states.report('full')
    states.report('slow')
    states.end('full')
    states.report('slow')
    assert.deepEqual(
      lines.map(({ kind, msg }) => `${kind} ${msg}`),
      ['full requests refused', 'slow requests refused', 'full requests accepted again'],
    )
  })

  test('ends a state that is not reported any more, and only then', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const { lines, states } = openLog(QUIET_MS)
    states.report('full')
    for (let minute = 0; minute < 5; minute += 1) {
      t.mock.timers.tick(QUIET_MS - 1)
      states.report('full')
      t.mock.timers.tick(1)
    }
    assert.equal(lines.length, 1)
    t.mock.timers.tick(QUIET_MS)
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['requests refused', 'requests accepted again'],
    )
  })
})
