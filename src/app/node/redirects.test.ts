import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { pino } from 'pino'
import type { SharedAddress } from '../../clicks/record/click-maker.ts'
import { SharedAddresses } from './redirects.ts'

const VISITOR = { address: '203.0.113.7', isPrivate: false }
const HOUR_MS = 60 * 60 * 1_000

describe('SharedAddresses', () => {
  test('logs one line for each reason, at most once an hour', (t: TestContext) => {
    let nowMs = 0
    t.mock.method(performance, 'now', () => nowMs)
    const lines: string[] = []
    const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) })
    const shared = new SharedAddresses(log)
    const report = (why: SharedAddress) => shared.report(why, VISITOR)
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

  test('knows an untrusted proxy by its private address, which no visitor on the internet has', () => {
    const shared = new SharedAddresses(pino({ level: 'silent' }))
    shared.report('untrusted proxy', VISITOR)
    shared.report('private address', { address: '10.0.0.7', isPrivate: true })
    assert.equal(shared.untrustedProxy, undefined)
    shared.report('untrusted proxy', { address: '172.18.0.5', isPrivate: true })
    assert.equal(shared.untrustedProxy, '172.18.0.5')
  })
})
