import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { keepJournalledNumbers } from '../../src/app/node/intake.ts'
import {
  createJournal,
  journalsRoot,
  segmentFile,
} from '../../src/clicks/journal/journal-folder.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { clicksFrom } from '../clicks/some-clicks.ts'
import { createTestLink } from '../clicks/test-link.ts'
import { encodeFrame } from '../support/click-frames.ts'
import { rawClicksOf } from '../support/raw-clicks.ts'
import { describeStore } from '../support/store.ts'

const NOW_MICROS = 1_000

describeStore('link sequence numbers', (at) => {
  const clock = systemClock()
  const skip = (seq: number) => at.store.write(({ links }) => links.skipNumbers(seq))

  test('start above the skipped ones, and never go back', async () => {
    const { seq } = await createTestLink(at.store, clock)
    await skip(seq + 10)
    assert.equal((await createTestLink(at.store, clock)).seq, seq + 11)
    await skip(seq)
    assert.equal((await createTestLink(at.store, clock)).seq, seq + 12)
  })

  test('are given once while others are being skipped', async () => {
    const { seq } = await createTestLink(at.store, clock)
    const made = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        if (index % 3 === 0) await skip(seq + index * 5)
        return (await createTestLink(at.store, clock)).seq
      }),
    )
    assert.equal(new Set(made).size, made.length)
  })

  test('skip the numbers of counted clicks whose links the database has lost', async () => {
    const { seq } = await createTestLink(at.store, clock)
    await at.take(clicksFrom(NOW_MICROS, 100, seq + 3))
    for (let count = 0; count < 4; count += 1) {
      const link = await createTestLink(at.store, clock)
      assert.ok(link.seq > seq + 3, `${link.seq} was ${seq + 3}`)
      assert.equal((await link.counters()).clicks, 0)
      assert.deepEqual(await rawClicksOf(at.store, link.scope), [])
    }
  })

  test('skip the numbers of clicks that wait in a journal when a node starts', async () => {
    const { seq } = await createTestLink(at.store, clock)
    const journal = createJournal(journalsRoot(at.place.dataDir))
    writeFileSync(segmentFile(journal.folder, 1), encodeFrame(clicksFrom(NOW_MICROS, 5, seq + 7)))
    await keepJournalledNumbers(at.place, at.store)
    assert.equal((await createTestLink(at.store, clock)).seq, seq + 8)
    journal.remove()
  })

  test('ignore a click with a number that no database assigns', async () => {
    const { seq } = await createTestLink(at.store, clock)
    await at.take(clicksFrom(NOW_MICROS, 1, Number.MAX_SAFE_INTEGER))
    assert.equal((await createTestLink(at.store, clock)).seq, seq + 1)
  })
})
