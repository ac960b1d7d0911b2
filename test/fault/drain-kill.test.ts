import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { type Click, countVisits } from '../../src/clicks/click.ts'
import {
  createJournal,
  type JournalFolder,
  journalsRoot,
  segmentFile,
} from '../../src/clicks/journal/journal-folder.ts'
import { examineFiles } from '../../src/data-files/examine-files.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { createTestLink, type TestLink } from '../clicks/test-link.ts'
import { arbitraryClick } from '../support/arbitrary-clicks.ts'
import { encodeFrame } from '../support/click-frames.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { formSetting } from '../support/long-form.ts'
import { SEED } from '../support/random.ts'
import { rawClicksOf } from '../support/raw-clicks.ts'
import { recount } from '../support/recount.ts'
import { describeStore } from '../support/store.ts'

const PROGRAM = fileURLToPath(new URL('./drain-once.ts', import.meta.url))
/** Kills on each engine, at most one at each step. */
const KILLS = formSetting('DRAIN_KILLS')
/** Each journal is one batch; together they fill a day until it is folded and unfolded. */
const SEGMENTS = [40, 90, 3]

describeStore('a drainer killed between two statements', (at) => {
  async function drainIn(journal: JournalFolder, killAt?: number) {
    const { dataDir, databaseUrl } = at.place
    const child = spawn(process.execPath, [PROGRAM], {
      env: {
        ...INHERITED_ENV,
        DATA_DIR: dataDir,
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
        JOURNAL: journal.id,
        ...(killAt !== undefined && { KILL_AT: String(killAt) }),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    return { steps: Number(output), code, signal }
  }

  function journalled(link: TestLink, seed: number): { journal: JournalFolder; clicks: Click[] } {
    const journal = createJournal(journalsRoot(at.place.dataDir))
    const clicks = SEGMENTS.flatMap((numRuns, index) => {
      const journalable = arbitraryClick([link.seq]).filter(({ at }) => at >= 0)
      const some = fc.sample(journalable, { numRuns, seed: seed + index })
      appendFileSync(segmentFile(journal.folder, index + 1), encodeFrame(some))
      return some
    })
    return { journal, clicks }
  }

  async function expectCounted(link: TestLink, clicks: readonly Click[]): Promise<void> {
    const persons = clicks.filter(({ flags }) => flags === 0)
    assert.deepEqual(await link.counters(), {
      clicks: persons.length,
      last_click: Math.max(...persons.map(({ at }) => at)),
    })
    assert.equal(countVisits(await rawClicksOf(at.store, link.scope)), countVisits(clicks))
    const options = { dimension: 'referrer', slots: true } as const
    const days = [
      ...(await at.store.read.reports.readDays(link.scope, -5, 5, options)),
      ...(await at.store.read.reports.readDays(link.scope, 19_999, 20_800, options)),
    ]
    assert.deepEqual(days, recount(clicks, options))
  }

  test('has counted each click once after the next drainer has finished', async () => {
    const clock = systemClock()
    let steps = 0
    // Measured in the second run, because the first also creates the days' partitions.
    for (let run = 1; run <= 2; run += 1) {
      const link = await createTestLink(at.store, clock)
      const { journal, clicks } = journalled(link, SEED)
      steps = (await drainIn(journal)).steps
      assert.ok(steps > 40, `${steps} steps`)
      await expectCounted(link, clicks)
      journal.remove()
    }

    const every = Array.from({ length: steps }, (_, index) => index + 1)
    const moments =
      KILLS >= steps ? every : fc.sample(fc.constantFrom(...every), { numRuns: KILLS, seed: SEED })
    let kills = 0
    for (const moment of moments) {
      const link = await createTestLink(at.store, clock)
      const { journal, clicks } = journalled(link, SEED)
      const killed = await drainIn(journal, moment)
      // The state of the workspace decides how often it is folded, so some runs have fewer steps.
      if (killed.signal !== 'SIGKILL') assert.equal(killed.code, 0, `step ${moment}`)
      else kills += 1
      // A crash leaves consistent files, between any two statements.
      if (at.place.databaseUrl === undefined) {
        assert.deepEqual(examineFiles(at.place.dataDir).faults, [], `step ${moment}`)
      }
      const { code } = await drainIn(journal)
      assert.equal(code, 0)
      await expectCounted(link, clicks)
      journal.remove()
    }
    assert.ok(kills > moments.length / 2, `${kills} kills`)
  })
})
