import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { sharedAddressReporter } from './click-cap.ts'

const HOUR_MS = 60 * 60 * 1_000

describe('sharedAddressReporter', () => {
  test('logs one line for each reason, at most once an hour', (t: TestContext) => {
    let nowMs = 0
    t.mock.method(performance, 'now', () => nowMs)
    const lines: string[] = []
    const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) })
    const report = sharedAddressReporter(log)
    const proxy = 'visits come through a proxy that TERSE_TRUST_PROXY does not name'
    const beyondCap = 'clicks from a private address are beyond the cap'

    for (let visit = 0; visit < 1_000; visit += 1) report('untrusted proxy')
    report('private address')
    assert.deepEqual(lines, [proxy, beyondCap])
    nowMs = HOUR_MS - 1
    report('untrusted proxy')
    assert.equal(lines.length, 2)
    nowMs = HOUR_MS
    report('untrusted proxy')
    assert.deepEqual(lines.slice(2), [proxy])
  })
})
