import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RawClick } from '../clicks/index.ts'
import { type ExportedStores, readSection, type Subject } from './read-workspace.ts'

const DAY = 24 * 60 * 60 * 1_000_000
const SUBJECT: Subject = {
  ...{ workspaceId: 'w', untilMicros: 100 * DAY, singlesFromDay: 0 },
  ruleSetNames: new Map(),
}

function clickAt(at: number, link_id: string | null = 'l'): RawClick {
  const values = { country: '', device: '', os: '', browser: '', referrer: '', language: '' }
  const ruled = { rule: '', variant: '', label: '', region: '', city: '' }
  const click = {
    at,
    link_seq: 1,
    flags: 0,
    count: 1,
    visitor: 1,
    source: 'direct',
    ...values,
    ...ruled,
  }
  return { ...click, link_id, key: 'k', host: 'h' }
}

/** Stores whose clicks come in these batches, from the day that is asked for. */
function storesOf(batches: readonly (readonly RawClick[])[]): ExportedStores {
  const reports = {
    async *rawClicks(_scope: unknown, fromMicros: number) {
      for (const batch of batches) {
        const wanted = batch.filter(({ at }) => at >= fromMicros)
        if (wanted.length > 0 || batch.length === 0) yield wanted
      }
    },
  }
  return { reports } as unknown as ExportedStores
}

async function instantsOf(stores: ExportedStores, mark?: unknown) {
  const read = []
  for await (const { records, next } of readSection(stores, SUBJECT, 'click', mark)) {
    read.push({ ats: records.map((record) => ('at' in record ? record.at : '')), next })
  }
  return read
}

describe('readSection of clicks', () => {
  const batches = [
    [clickAt(2 * DAY), clickAt(2 * DAY + 1)],
    [],
    [clickAt(2 * DAY + 2)],
    [clickAt(3 * DAY), clickAt(3 * DAY + 1, null), clickAt(3 * DAY + 2)],
    [clickAt(3 * DAY + 3)],
  ]

  test('goes on after every batch with exactly what comes after it', async () => {
    const whole = await instantsOf(storesOf(batches))
    const all = whole.flatMap(({ ats }) => ats)
    assert.equal(all.length, 6, 'the click of a deleted link is left out')
    for (const [nth, { next }] of whole.entries()) {
      const before = whole.slice(0, nth + 1).flatMap(({ ats }) => ats)
      const rest = (await instantsOf(storesOf(batches), next.mark)).flatMap(({ ats }) => ats)
      assert.deepEqual([...before, ...rest], all, `after batch ${nth}`)
    }
  })

  test('goes on with the next day when the day of its mark is no longer stored', async () => {
    const left = storesOf(batches.slice(3))
    const rest = await instantsOf(left, { day: 2, seen: 2 })
    assert.equal(rest.flatMap(({ ats }) => ats).length, 3)
  })
})
