import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CallApi, CallRefused, type Query } from '../identity/index.ts'
import { daysAgo, readReport, readSingleClicks } from './clicks.ts'

const PERIOD = { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' }

/** An API whose report has this total, and whose export has two clicks. */
function callWith(total: { readonly clicks: number; readonly bots?: number }) {
  const exports: string[] = []
  const call = {
    get: async () => ({ total }),
    async file(path: string) {
      exports.push(path)
      return { bytes: Buffer.from('{"count":1}\n{"count":2}\n'), type: 'application/x-ndjson' }
    },
  } as unknown as CallApi
  return { call, exports }
}

describe('readSingleClicks', () => {
  test('returns the clicks of an export', async () => {
    const { call, exports } = callWith({ clicks: 100_000 })
    const clicks = await readSingleClicks(call, '/clicks', PERIOD)
    assert.deepEqual(clicks, [{ count: 1 }, { count: 2 }])
    assert.deepEqual(exports, ['/clicks/export'])
  })

  for (const { name, total, bots } of [
    { name: 'more than 100,000 clicks', total: { clicks: 100_001 }, bots: 'exclude' },
    { name: 'as many with those of bots', total: { clicks: 99_999, bots: 2 }, bots: 'include' },
  ])
    test(`reads no export with ${name}`, async () => {
      const { call, exports } = callWith(total)
      assert.equal(await readSingleClicks(call, '/clicks', { ...PERIOD, bots }), undefined)
      assert.deepEqual(exports, [])
    })
})

/** An API that refuses reports which begin before a day. */
function refusing(reason: string, kept: string) {
  const asked: unknown[] = []
  const get = async (_path: string, { from }: Query) => {
    asked.push(from)
    if (String(from) >= kept) return { data: [from] }
    const faults = { from: [{ code: 'no_single_clicks', reason, max: 30 }] }
    throw new CallRefused(422, { message: 'old', code: 'validation_failed', faults }, undefined)
  }
  return { call: { get } as unknown as CallApi, asked }
}

describe('readReport', () => {
  test('begins with the oldest single clicks that are kept', async () => {
    const { call, asked } = refusing('old', daysAgo(30))
    const from = daysAgo(3_650)
    assert.deepEqual(await readReport(call, '/clicks', { from }), { data: [daysAgo(30)] })
    assert.deepEqual(asked, [from, daysAgo(30)])
  })

  test('is refused where there are too many', async () => {
    const { call, asked } = refusing('many', daysAgo(0))
    await assert.rejects(readReport(call, '/clicks', { from: daysAgo(1) }), CallRefused)
    assert.equal(asked.length, 1)
  })
})
