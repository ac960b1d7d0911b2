import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { examineFiles } from '../../src/data-files/examine-files.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { createTestLink } from '../clicks/test-link.ts'
import { openWriterAt, takeClicks } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { createFolder } from '../support/engines.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { formSetting } from '../support/long-form.ts'
import { SEED } from '../support/random.ts'
import { failStatements } from '../support/statement-faults.ts'
import { openAt } from '../support/store.ts'

const PROGRAM = fileURLToPath(new URL('./run-once.ts', import.meta.url))
/** Kills of each kind, at most one at each step. */
const KILLS = formSetting('RUN_KILLS')
/** Number of failing statements, at most one at each step. */
const FAILURES = formSetting('RUN_FAILURES')

describe('a run over a data folder', () => {
  let dataDir: string
  let linkSeq: number
  beforeEach(() => {
    dataDir = createFolder()
  })
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  async function runIn(folder: string, killAt?: number) {
    const child = spawn(process.execPath, [PROGRAM], {
      env: {
        ...INHERITED_ENV,
        DATA_DIR: folder,
        ...(linkSeq > 0 && { LINK_SEQ: String(linkSeq) }),
        ...(killAt !== undefined && { KILL_AT: String(killAt) }),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    return { steps: Number(output), code, signal }
  }

  function someOf(steps: number, count: number, t: TestContext): number[] {
    t.diagnostic(`FUZZ_SEED=${SEED}, ${steps} steps`)
    const every = Array.from({ length: steps }, (_, index) => index + 1)
    if (count >= steps) return every
    return fc.sample(fc.constantFrom(...every), { numRuns: count, seed: SEED })
  }

  async function makeLink(): Promise<void> {
    const { store } = await openAt({ dataDir, databaseUrl: undefined })
    linkSeq = (await createTestLink(store, systemClock())).seq
    await store.close()
  }

  const faults = () => examineFiles(dataDir).faults

  test('leaves consistent files, wherever it is killed', async (t) => {
    await makeLink()
    const { steps } = await runIn(dataDir)
    for (const moment of someOf(steps, KILLS, t)) {
      await runIn(dataDir, moment)
      assert.deepEqual(faults(), [], `step ${moment}`)
      assert.equal((await runIn(dataDir)).code, 0, `after step ${moment}`)
    }
  })

  test('leaves a new folder that the next run can use, wherever it is killed', async (t) => {
    linkSeq = 0
    const { steps } = await runIn(dataDir)
    for (const moment of someOf(steps, KILLS, t)) {
      rmSync(dataDir, { recursive: true })
      await runIn(dataDir, moment)
      assert.deepEqual(faults(), [], `step ${moment}`)
      assert.equal((await runIn(dataDir)).code, 0, `after step ${moment}`)
    }
  })

  test('leaves consistent files, whichever statement fails', async (t) => {
    await makeLink()
    const place = { dataDir, databaseUrl: undefined }
    async function runOnce(): Promise<void> {
      const { store } = await openAt(place)
      try {
        const writer = await openWriterAt(place)
        try {
          await takeClicks(writer, [someClick({ at: 1_000, link_seq: linkSeq })])
        } finally {
          await writer.close()
        }
      } finally {
        await store.close()
      }
    }
    const counting = failStatements(() => false)
    await runOnce()
    counting.mend()
    for (const moment of someOf(counting.steps(), FAILURES, t)) {
      const failing = failStatements((step) => step === moment)
      await runOnce().catch(() => {})
      failing.mend()
      assert.deepEqual(faults(), [], `step ${moment}`)
      await runOnce()
    }
    assert.deepEqual(faults(), [])
  })
})
