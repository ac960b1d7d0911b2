import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { commandLine } from '../../src/identity/actor.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { formSetting } from '../support/long-form.ts'
import { makeInstance } from '../support/make-instance.ts'
import { random } from '../support/random.ts'
import { openAt } from '../support/store.ts'

const MAIN = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))
const LINKS = 3_000
/** Each costs the start of a process. */
const KILLS = formSetting('IMPORT_KILLS')

/** Runs the import; kills it when so many of its rows are written. */
async function runImport(place: Place, file: string, killAtRow: number): Promise<number | null> {
  const args = ['import', 'csv', file, '--workspace', 'acme', '--domain', 'old.example=localhost']
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...INHERITED_ENV, ...place.env },
    stdio: 'ignore',
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const { store } = await openAt(place)
  try {
    while (child.exitCode === null && child.signalCode === null) {
      const [found] = await store.read.imports.list(await workspaceIn(place), { limit: 1 })
      if ((found?.rows_done ?? 0) >= killAtRow) child.kill('SIGKILL')
      await sleep(5)
    }
    // As when the lease of the killed process has run out.
    const [left] = await store.read.imports.list(await workspaceIn(place), { limit: 1 })
    if (left !== undefined) {
      await store.write(({ imports }) => imports.update(left.id, left.fence, { lease_until: null }))
    }
  } finally {
    await store.close()
  }
  return exited
}

const workspaces = new Map<Place, string>()
async function workspaceIn(place: Place): Promise<string> {
  const known = workspaces.get(place)
  if (known !== undefined) return known
  const { store } = await openAt(place)
  const { id = '' } = (await store.read.workspaces.findByName('acme')) ?? {}
  await store.close()
  workspaces.set(place, id)
  return id
}

for (const engine of ENGINES) {
  describe(`an import that is killed, on ${engine.title}`, () => {
    let place: Place
    before(async () => {
      place = await engine.createMigratedPlace()
      await makeInstance(place.env, async (instance) => {
        await instance.workspaces.ensure(commandLine, 'acme')
      })
    })
    after(() => place.remove())

    test('goes on with the same command, and gives what one run gives', async () => {
      const file = path.join(place.dataDir, 'links.csv')
      const lines = Array.from(
        { length: LINKS },
        (_, index) => `old.example/k${index},https://example.com/${index},${index % 7}`,
      )
      writeFileSync(file, ['short link,destination,clicks', ...lines].join('\n'))
      let code: number | null = null
      for (let kill = 0; kill < KILLS && code === null; kill += 1) {
        const killAtRow = 1 + Math.floor((LINKS * 0.8 * (kill + random())) / KILLS)
        // On a busy machine it may have ended before it can be killed.
        code = await runImport(place, file, killAtRow)
      }
      code ??= await runImport(place, file, Number.POSITIVE_INFINITY)
      assert.equal(code, 0)
      const { store } = await openAt(place)
      try {
        const [ended] = await store.read.imports.list(await workspaceIn(place), { limit: 1 })
        assert.ok(ended)
        assert.deepEqual(
          [ended.status, ended.rows_done, ended.counts.created, ended.counts.skipped],
          ['succeeded', LINKS, LINKS, 0],
        )
        const rows = await store.read.importRows.list(ended.id, 0, LINKS + 1)
        assert.equal(new Set(rows.map(({ link }) => link)).size, LINKS)
        const total = lines.reduce((sum, _line, index) => sum + (index % 7), 0)
        assert.equal(ended.counts.clicks_opening, total)
      } finally {
        await store.close()
      }
    })
  })
}
