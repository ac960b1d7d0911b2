import assert from 'node:assert/strict'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createFolder } from '../../../test/support/engines.ts'
import { LostClicks } from './click-intake.ts'

describe('LostClicks', () => {
  let dataDir: string
  beforeEach(() => {
    dataDir = createFolder()
  })
  afterEach(() => rmSync(dataDir, { recursive: true }))

  test('keeps the count of each process across restarts', () => {
    const lost = new LostClicks(dataDir, 1)
    lost.add(3)
    lost.add(4)
    lost.flush()
    assert.equal(lost.count, 7)
    assert.equal(new LostClicks(dataDir, 1).count, 7)
    assert.equal(new LostClicks(dataDir, 2).count, 0)
  })

  test('adds up what two processes of a rolling restart count', () => {
    const old = new LostClicks(dataDir, 1)
    const next = new LostClicks(dataDir, 1)
    for (const lost of [old, next]) {
      lost.add(5)
      lost.flush()
    }
    assert.equal(new LostClicks(dataDir, 1).count, 10)
  })

  test('needs no further room for a greater count', () => {
    const lost = new LostClicks(dataDir, 1)
    const file = path.join(dataDir, 'lost-clicks', '1')
    const { size, ino } = statSync(file)
    lost.add(1_000_000)
    lost.flush()
    assert.deepEqual([statSync(file).size, statSync(file).ino], [size, ino])
  })

  test('counts on while the file cannot be written, and writes the count later', () => {
    const lost = new LostClicks(dataDir, 1)
    const folder = path.join(dataDir, 'lost-clicks')
    rmSync(folder, { recursive: true })
    writeFileSync(folder, 'no folder')
    lost.add(2)
    lost.flush()
    assert.equal(lost.count, 2)
    rmSync(folder)
    mkdirSync(folder)
    lost.flush()
    assert.equal(new LostClicks(dataDir, 1).count, 2)
  })
})
