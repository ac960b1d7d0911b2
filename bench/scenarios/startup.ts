import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { visit } from '../../test/support/visit.ts'
import { destinationOf, HOST, pathOf } from '../load/traffic.ts'
import { createLinksFolder } from '../support/links-folder.ts'
import type { Scenario } from '../support/scenario.ts'
import { type ServerProcess, spawnTerse } from '../support/server-process.ts'
import { median, round } from '../support/statistics.ts'
import { MANY_LINKS } from './conditions.ts'

const STARTUP_MAX_MS = 500
const KNOCK_INTERVAL_MS = 2

export const startup: Scenario = {
  name: 'startup',
  description: 'from process start to the first redirect, ten million links on disk',
  async run({ rounds }) {
    const dataDir = await createLinksFolder(MANY_LINKS)
    const startupsMs: number[] = []
    for (let number = 1; number <= rounds; number += 1) {
      const terse = await spawnTerse({ TERSE_DATA_DIR: dataDir })
      const link = Math.ceil(Math.random() * MANY_LINKS)
      const { status, headers } = await firstAnswer(terse, pathOf(link))
      startupsMs.push(performance.now() - terse.startedMs)
      await terse.ready
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

/** Retries until the port is open. */
async function firstAnswer({ port }: ServerProcess, path: string): ReturnType<typeof visit> {
  for (;;) {
    try {
      return await visit(port, path, { host: HOST })
    } catch (error) {
      const isClosed = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
      if (!isClosed) throw error
    }
    await sleep(KNOCK_INTERVAL_MS)
  }
}
