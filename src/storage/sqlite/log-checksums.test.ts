import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { createFolder } from '../../../test/support/engines.ts'
import { countSoundFrames } from './file-marks.ts'

const HEADER_BYTES = 32
const FRAME_BYTES = 24 + 4096

describe('countSoundFrames', () => {
  let folder: string
  let log: Buffer
  let frames: number
  before(() => {
    folder = createFolder()
    const file = path.join(folder, 'some.db')
    const database = new DatabaseSync(file)
    database.exec('pragma journal_mode = wal; create table notes (text text)')
    const insert = database.prepare('insert into notes values (?)')
    for (let count = 0; count < 20; count += 1) insert.run('x'.repeat(3_000))
    database.exec('pragma wal_checkpoint(full)')
    // The log begins again, and frames of the old one follow.
    for (let count = 0; count < 5; count += 1) insert.run('y'.repeat(3_000))
    frames = Number(database.prepare('pragma wal_checkpoint(noop)').get()?.log)
    log = readFileSync(`${file}-wal`)
    database.close()
  })
  after(() => rmSync(folder, { recursive: true }))

  function readerOf(bytes: Buffer): (count: number) => Buffer | undefined {
    let at = 0
    return (count) => {
      at += count
      return at <= bytes.length ? bytes.subarray(at - count, at) : undefined
    }
  }

  /** The log with one byte changed. */
  function damagedAt(at: number): Buffer {
    const copy = Buffer.from(log)
    copy.writeUInt8(copy.readUInt8(at) ^ 1, at)
    return copy
  }

  test('counts the frames of SQLite’s log, without those of the log before', () => {
    assert.ok(frames > 5 && log.length > HEADER_BYTES + frames * FRAME_BYTES)
    assert.equal(countSoundFrames(readerOf(log)), frames)
  })

  test('counts up to the first frame with a changed byte', () => {
    for (const frame of [0, 1, frames - 1]) {
      const start = HEADER_BYTES + frame * FRAME_BYTES
      for (const at of [start, start + 9, start + 20, start + 24, start + FRAME_BYTES - 1]) {
        assert.equal(countSoundFrames(readerOf(damagedAt(at))), frame, `byte ${at}`)
      }
    }
  })

  test('counts no frame after a changed header, in a truncated log, or without a log', () => {
    for (let at = 0; at < HEADER_BYTES; at += 1) {
      assert.equal(countSoundFrames(readerOf(damagedAt(at))), 0, `byte ${at}`)
    }
    assert.equal(countSoundFrames(readerOf(log.subarray(0, HEADER_BYTES + FRAME_BYTES - 1))), 0)
    assert.equal(countSoundFrames(readerOf(Buffer.alloc(0))), 0)
  })
})
