import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { FOLD_BYTES_MIN, SCOPES } from '../../src/clicks/store/fold-days.ts'
import { sqliteClickRows } from '../../src/clicks/store/sqlite/click-rows.ts'
import { countedFile } from '../../src/storage/sqlite/data-files.ts'
import { SQLITE } from '../support/engines.ts'
import { openAt } from '../support/store.ts'

const DAYS = 200
const PIECE_BYTES = 60
const PIECES = 400

test('a day that grows by small pieces is reported once it has grown by more than 2 KiB', async (t) => {
  const place = await SQLITE.createPlace()
  t.after(() => place.remove())
  await (await openAt(place)).store.close()
  const database = new DatabaseSync(countedFile(place.dataDir))
  t.after(() => database.close())
  const rows = sqliteClickRows(database)
  const deltas = Array.from({ length: DAYS }, (_, subject) => ({
    day: 1,
    scope: SCOPES.link,
    subject,
    workspace_id: '',
    data: new Uint8Array(PIECE_BYTES),
  }))
  const reported = new Map<number, number>()
  database.exec('begin')
  for (let piece = 1; piece <= PIECES; piece += 1) {
    for (const { subject } of await rows.appendToDays(deltas)) {
      if (!reported.has(subject)) reported.set(subject, piece * PIECE_BYTES)
    }
  }
  database.exec('commit')
  const sizes = [...reported.values()].sort((a, b) => a - b)
  assert.equal(sizes.length, DAYS)
  assert.ok(Number(sizes[0]) > FOLD_BYTES_MIN)
  // A check comes once for 512 bytes, on average.
  assert.ok(Number(sizes[DAYS / 2]) < 2 * FOLD_BYTES_MIN)
})
