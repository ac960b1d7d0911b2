import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import type { ClickWriter } from '../../src/clicks/click-writer.ts'
import {
  type DrainCommand,
  type DrainEvent,
  DrainProgress,
} from '../../src/clicks/ingest/drain-messages.ts'
import { serveDrain } from '../../src/clicks/ingest/serve-drain.ts'
import { createJournal, segmentFile } from '../../src/clicks/journal/journal-folder.ts'
import type { JournalPosition } from '../../src/clicks/store/click-store.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { encodeFrame } from '../support/click-frames.ts'
import { createFolder } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { clicksFrom } from './some-clicks.ts'

/** Serves a drain over journals that have a click each. `taken` are their positions. */
function startDrain(t: TestContext, writer: Partial<ClickWriter> = {}) {
  const root = createFolder()
  t.after(() => rmSync(root, { recursive: true }))
  const [own, ...orphans] = [1, 2, 3, 4].map((first) => {
    const journal = createJournal(root)
    t.after(() => journal.release())
    writeFileSync(segmentFile(journal.folder, 1), encodeFrame(clicksFrom(first, 1)))
    return { id: journal.id, folder: journal.folder }
  })
  assert.ok(own)
  const taken = new Map<string, JournalPosition>()
  let taking = 0
  const { port1, port2 } = new MessageChannel()
  serveDrain(port2, {
    writer: {
      batchMax: 100,
      spools: { list: async () => [], read: async () => undefined },
      findPosition: async (id) => taken.get(id),
      async write({ journalId, to }) {
        taking += 1
        assert.equal(taking, 1)
        await turn()
        taking -= 1
        taken.set(journalId, to)
        return true
      },
      maintain: async () => {},
      erase: async () => {},
      close: async () => {},
      ...writer,
    },
    clock: systemClock(),
    journal: own,
    progress: new DrainProgress(),
    keepMs: 0,
    retentionDays: 0,
  })
  const order = (message: DrainCommand) => port1.postMessage(message)
  const reports: DrainEvent[] = []
  port1.on('message', (report) => reports.push(report))
  t.after(() => port1.close())
  return {
    own,
    orphans,
    taken,
    reports,
    ingestOrphans() {
      for (const [id, journal] of orphans.entries()) {
        order({ kind: 'run', id, task: { kind: 'ingest', journal } })
      }
    },
    async stop() {
      order({ kind: 'stop' })
      await once(port1, 'close')
    },
  }
}

/** How tasks end that succeed. */
const endsOf = (tasks: readonly unknown[]) =>
  tasks.map((_, id) => ({ kind: 'ended', id, error: undefined }))

test('orphaned journals are drained one after the other, so that none waits for a connection', async (t) => {
  const { own, orphans, taken, reports, ingestOrphans, stop } = startDrain(t)
  ingestOrphans()
  await eventually(async () => {
    const ends = reports.filter(({ kind }) => kind !== 'progress')
    assert.deepEqual(ends, endsOf(orphans))
  })
  await stop()
  assert.deepEqual(
    [...taken.keys()],
    [...orphans, own].map(({ id }) => id),
  )
})

test('an orphaned journal without the end of a begun batch is reported, and all others are drained', async (t) => {
  const drain = startDrain(t, {
    async findEnd(id) {
      const isLost = id === drain.orphans[0]?.id && drain.taken.has(id)
      return isLost ? { segment: 2, offset: 180 } : undefined
    },
  })
  drain.ingestOrphans()
  const { orphans, reports, taken } = drain
  await eventually(async () => {
    const ends = reports.filter(({ kind }) => kind === 'ended')
    assert.deepEqual(ends, endsOf(orphans))
  })
  const journal = orphans[0]?.id
  assert.deepEqual(
    reports.filter(({ kind }) => kind === 'damage'),
    [
      {
        kind: 'damage',
        damage: { journal, bytes: 180, missingSegments: 0, clicks: 3, copy: undefined },
      },
    ],
  )
  await drain.stop()
  assert.equal(taken.size, 1 + orphans.length)
})
