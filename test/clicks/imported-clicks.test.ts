import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import fc from 'fast-check'
import { countBatch } from '../../src/clicks/ingest/spool-drain.ts'
import { isCounted } from '../../src/clicks/spool/spool-reader.ts'
import {
  listRawDays,
  rawClicksFile,
  rawClicksFolder,
} from '../../src/clicks/store/sqlite/raw-click-files.ts'
import {
  examineFiles,
  readCounted,
  readDay,
  unfinishedBatches,
} from '../../src/data-files/examine-files.ts'
import { Failure } from '../../src/platform/failure.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { countedFile } from '../../src/storage/sqlite/data-files.ts'
import { openWriterAt } from '../support/click-writers.ts'
import { createFolder } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { cases } from '../support/properties.ts'
import { SEED } from '../support/random.ts'
import { failStatements, WantedFault } from '../support/statement-faults.ts'
import { describeStore } from '../support/store.ts'
import { arbitrarySource, assertImported, planImport } from './arbitrary-import.ts'
import { type ImportPlan, runImport, spooledClicks } from './click-import.ts'

describeStore('clicks of an import', (at) => {
  /** Runs until a statement fails; returns whether one did. */
  async function failingAt(step: number, run: () => Promise<unknown>): Promise<boolean> {
    const failing = failStatements((each) => each === step)
    try {
      await run()
      return false
    } catch (error) {
      assert.ok(isWanted(error), `${error}`)
      return true
    } finally {
      failing.mend()
      // PostgreSQL is taken for down until a connection has shown otherwise.
      await eventually(async () => assert.ok(at.store.isAvailable()))
    }
  }

  const run = (plan: ImportPlan) => runImport(at.store, at.place, plan)

  test('are each counted once, and opening balances exactly, wherever it fails', async () => {
    const faults = fc.array(fc.integer({ min: 1, max: 600 }), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(arbitrarySource, faults, async (source, steps) => {
        const planned = await planImport(at, source)
        for (const step of steps) await failingAt(step, () => run(planned.plan))
        const { opening } = await run(planned.plan)
        assert.equal(opening, await assertImported(at, planned))
        assert.equal(await at.store.read.clickSpools.hasClicks(planned.plan.importId), false)
        if (at.place.databaseUrl === undefined) {
          assert.deepEqual(examineFiles(at.place.dataDir).faults, [])
        }
      }),
      cases(2),
    )
  })

  test('have their opening balances once, at whichever statement finishing fails', async () => {
    const dated = [{ kind: 'count', link: 1, hour: 3, count: 5 }] as const
    const planned = await planImport(at, { totals: [20, 7, 5, null], dated })
    const of = planned.plan
    const clicks = spooledClicks(at.store, at.place)
    const prepared = await clicks.prepare(of, of.clicks)
    await at.store.write((stores) => clicks.spool(stores, of, prepared))
    const finish = () => clicks.finish(of, new AbortController().signal)
    let step = 1
    let unfinished = 0
    while (await failingAt(step, finish)) {
      step += 1
      if (
        at.place.databaseUrl === undefined &&
        unfinished < 2 &&
        hasUncountedRows(at.place.dataDir)
      ) {
        unfinished += 1
        assert.deepEqual(faultsOfCopy(at.place.dataDir), [])
      }
    }
    const isOfFiles = at.place.databaseUrl === undefined && at.place.clicks === undefined
    assert.equal(unfinished > 0, isOfFiles)
    assert.ok(step > 20, `${step} statements`)
    assert.equal(await assertImported(at, planned), 27)
    assert.deepEqual(await finish(), { opening: 27, openingLinks: 3 })
  })

  test('are counted once by several nodes at the same time', async () => {
    const source = fc.sample(arbitrarySource, { numRuns: 8, seed: SEED })
    const planned = await planImport(at, {
      totals: [9_000, null, 0, 1],
      dated: source.flatMap(({ dated }) => dated),
    })
    const { importId } = planned.plan
    const writers = [await openWriterAt(at.place), await openWriterAt(at.place)]
    const count = async () => {
      const journalId = (await at.store.read.clickSpools.find(importId))?.journal_id ?? ''
      const spool = { id: importId, journalId }
      await Promise.all(
        writers.map(async (writer) => {
          const counting = { writer, clock: systemClock(), onCounted: () => {} }
          while ((await countBatch(counting, spool)).outcome !== 'end');
        }),
      )
    }
    await runImport(at.store, at.place, planned.plan, count)
    for (const writer of writers) await writer.close()
    await assertImported(at, planned)
    assert.equal(await isCounted(at.store, importId), true)
  })
})

/** Whether a day's file has the rows of a batch that clicks.db has not counted. */
function hasUncountedRows(dataDir: string): boolean {
  const counted = new DatabaseSync(countedFile(dataDir), { readOnly: true })
  const { positions } = readCounted(counted)
  counted.close()
  const days = listRawDays(rawClicksFolder(dataDir)).map((day) => {
    const file = new DatabaseSync(rawClicksFile(rawClicksFolder(dataDir), day), { readOnly: true })
    const facts = readDay(file, day)
    file.close()
    return facts
  })
  return unfinishedBatches(positions, days).length > 0
}

function faultsOfCopy(dataDir: string) {
  const copy = createFolder()
  try {
    cpSync(dataDir, copy, { recursive: true })
    const { isCopy, faults } = examineFiles(copy, () => 0)
    assert.ok(isCopy)
    return faults
  } finally {
    rmSync(copy, { recursive: true })
  }
}

function isWanted(error: unknown): boolean {
  if (error instanceof WantedFault || error instanceof Failure) return true
  return error instanceof Error && isWanted(error.cause)
}
