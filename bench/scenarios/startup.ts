import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { visit } from '../../test/support/visit.ts'
import { destinationOf, HOST, pathOf } from '../load/traffic.ts'
import { createLinksFolder } from '../support/links-folder.ts'
import type { Scenario } from '../support/scenario.ts'
import { startTerse } from '../support/server-process.ts'
import { median, round } from '../support/statistics.ts'
import { MANY_LINKS } from './conditions.ts'

const STARTUP_MAX_MS = 500

export const startup: Scenario = {
  name: 'startup',
  description: 'from process start to the first redirect, ten million links on disk',
  async run({ rounds }) {
    const dataDir = await createLinksFolder(MANY_LINKS)
    const startupsMs: number[] = []
    for (let number = 1; number <= rounds; number += 1) {
      const terse = await startTerse({ TERSE_DATA_DIR: dataDir })
      const link = Math.ceil(Math.random() * MANY_LINKS)
      const { status, headers } = await visit(terse.port, pathOf(link), { host: HOST })
      startupsMs.push(performance.now() - terse.startedMs)
      await terse.stop()
      assert.equal(status, 302)
      assert.equal(headers.location, destinationOf(link))
    }
    rmSync(dataDir, { recursive: true })
    const startupMs = median(startupsMs)
    return {
      rows: [
        {
          'median ms': round(startupMs),
          'ms of each start': startupsMs.map((ms) => round(ms)).join(' '),
        },
      ],
      targets: [{ what: 'median ms', value: startupMs, atMost: STARTUP_MAX_MS }],
      missing: [],
    }
  },
}
