import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { examineFiles } from '../../src/data-files/examine-files.ts'
import { arbitrarySource, assertImported, planImport } from '../clicks/arbitrary-import.ts'
import type { ImportPlan } from '../clicks/click-import.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { formSetting } from '../support/long-form.ts'
import { SEED } from '../support/random.ts'
import { describeStore } from '../support/store.ts'

const PROGRAM = fileURLToPath(new URL('./import-clicks-once.ts', import.meta.url))
/** Kills on each engine. */
const KILLS = formSetting('IMPORT_CLICKS_KILLS')

describeStore('an import killed between two statements', (at) => {
  async function importIn(plan: ImportPlan, killAt?: number) {
    const { dataDir, databaseUrl } = at.place
    const file = path.join(dataDir, 'plan.json')
    writeFileSync(file, JSON.stringify(plan))
    const child = spawn(process.execPath, [PROGRAM], {
      env: {
        ...INHERITED_ENV,
        DATA_DIR: dataDir,
        PLAN: file,
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
        ...(killAt !== undefined && { KILL_AT: String(killAt) }),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    return { steps: Number(output), code, signal }
  }

  test('has counted each click once after the next process has finished it', async () => {
    const dated = fc
      .sample(arbitrarySource, { numRuns: 3, seed: SEED })
      .flatMap((source) => source.dated)
    const source = { totals: [1_500, null, 3, 70], dated }
    const importWhole = async () => {
      const whole = await planImport(at, source)
      const { steps } = await importIn(whole.plan)
      await assertImported(at, whole)
      return steps
    }
    // The first import makes partitions; the second has as many steps as every one after it.
    await importWhole()
    const steps = await importWhole()
    assert.ok(steps > 100, `${steps} steps`)

    const moment = fc.integer({ min: 1, max: steps })
    const moments = fc.sample(moment, { numRuns: KILLS, seed: SEED })
    const planned = await planImport(at, source)
    let kills = 0
    for (const moment of moments) {
      // Each process begins where the one before was killed, and has fewer steps left.
      const { signal, code } = await importIn(planned.plan, Math.ceil(moment / (kills + 1)))
      if (signal === 'SIGKILL') kills += 1
      else assert.equal(code, 0)
      if (at.place.databaseUrl !== undefined) continue
      assert.deepEqual(examineFiles(at.place.dataDir).faults, [], `step ${moment}`)
    }
    assert.ok(kills > 0)
    assert.equal((await importIn(planned.plan)).code, 0)
    await assertImported(at, planned)
  })
})
