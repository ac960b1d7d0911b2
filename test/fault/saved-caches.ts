import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'

const SAVED_WITHIN_MS = 60_000

/**
 * Waits until a node has saved its caches as they are now, so that another process can start from them.
 *
 * @param contents texts that the saved values contain
 */
export async function untilCachesAreSaved(place: Place, ...contents: string[]): Promise<void> {
  const nowMicros = Date.now() * 1_000
  const folder = path.join(place.dataDir, 'link-copy')
  await eventually(async () => {
    // As bytes, because the node has the databases locked.
    const files = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'latin1'))
    const saved = files.join('')
    const readAt = [...saved.matchAll(/"readAtMicros":(\d+)/g)].map(([, micros]) => Number(micros))
    assert.ok(Math.max(0, ...readAt) > nowMicros)
    for (const text of contents) assert.ok(saved.includes(text), text)
  }, SAVED_WITHIN_MS)
}
