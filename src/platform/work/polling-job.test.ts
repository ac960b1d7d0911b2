import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { pino } from 'pino'
import { startPollingJob } from './polling-job.ts'

test('a polling job logs repeated failures once, until it succeeds again', async (t) => {
  const lines = new PassThrough({ encoding: 'utf8' })
  const ran = new PassThrough({ objectMode: true })
  const outcomes = ['fails', 'fails', 'works', 'fails', 'fails']
  const job = startPollingJob({
    async work() {
      const outcome = outcomes.shift()
      ran.write(outcome)
      if (outcome === 'fails') throw new Error('no database')
    },
    intervalMs: 60_000,
    message: 'work failed',
    log: pino(lines),
    cancel() {},
  })
  t.after(() => job.stop())
  for (let count = outcomes.length; count > 0; count -= 1) {
    await once(ran, 'data')
    job.wake()
  }
  await once(ran, 'data')
  await job.stop()
  const logged = String(lines.read()).trim().split('\n')
  assert.deepEqual(
    logged.map((line) => JSON.parse(line).msg),
    ['work failed', 'work failed'],
  )
})
