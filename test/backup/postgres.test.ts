import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { LINK_NUMBERS_SKIPPED } from '../../src/backup/verify-backup.ts'
import {
  createJournal,
  journalsRoot,
  segmentFile,
} from '../../src/clicks/journal/journal-folder.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { clicksFrom } from '../clicks/some-clicks.ts'
import { createTestLink, type TestLink } from '../clicks/test-link.ts'
import { encodeFrame } from '../support/click-frames.ts'
import { copyDatabase } from '../support/copy-database.ts'
import { createFolder, ENGINES, type Place } from '../support/engines.ts'
import { makeInstance } from '../support/make-instance.ts'
import { runCommand } from '../support/run-command.ts'

const POSTGRES = ENGINES[1]
const CLICKS = 30

describe('the backup of a node with PostgreSQL', () => {
  let place: Place
  let other: Place
  let folder: string
  let link: TestLink
  before(async () => {
    if (POSTGRES === undefined) throw new Error('there is no such engine')
    place = await POSTGRES.createMigratedPlace()
    other = await POSTGRES.createPlace()
    folder = createFolder()
    await makeInstance(place.env, async ({ store }) => {
      link = await createTestLink(store, systemClock())
    })
    const journal = createJournal(journalsRoot(place.dataDir))
    const clicks = clicksFrom(systemClock().nowMicros(), CLICKS, link.seq)
    writeFileSync(segmentFile(journal.folder, 1), encodeFrame(clicks))
    journal.release()
    const made = await runCommand(['backup', target(), '--verify'], place.env)
    assert.equal(made.code, 0, made.stderr)
    await makeInstance(other.env)
  })
  after(async () => {
    await place.remove()
    await other.remove()
    rmSync(folder, { recursive: true, force: true })
  })
  const target = () => path.join(folder, 'target')
  const restore = (env: Readonly<Record<string, string>>) => runCommand(['restore', target()], env)
  const restored = () => ({ ...other.env, TERSE_DATA_DIR: path.join(folder, 'restored') })

  test('is not restored without its database, or beside the database of another instance', async () => {
    const alone = await restore({ TERSE_DATA_DIR: path.join(folder, 'restored') })
    assert.match(alone.stderr, /pg_restore.*TERSE_DATABASE_URL/)
    const beside = await restore(restored())
    assert.match(beside.stderr, /secret key is not the one/)
  })

  test('restores journals and key, and numbers new links far above', async () => {
    await copyDatabase(String(place.databaseUrl), String(other.databaseUrl))
    const { code, stdout, stderr } = await restore(restored())
    assert.equal(code, 0, stderr)
    assert.match(stdout, new RegExp(`${CLICKS} clicks that the service counts`))
    await makeInstance(restored(), async ({ store }) => {
      const next = await createTestLink(store, systemClock())
      assert.ok(next.seq > link.seq + LINK_NUMBERS_SKIPPED)
    })
    const dataDir = restored().TERSE_DATA_DIR
    const replayed = await runCommand(['journal', 'replay', dataDir, '--force'], restored())
    assert.match(replayed.stdout, new RegExp(`replayed +${CLICKS} +0 +0`))
  })
})
