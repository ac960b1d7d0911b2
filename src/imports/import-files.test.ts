import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { mountTmpfs, skipWithoutMount, unmount } from '../../test/support/tmpfs.ts'
import { ImportFiles } from './import-files.ts'

const skip = skipWithoutMount()

describe('ImportFiles', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'terse-test-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const files = new ImportFiles(folder)

  test('joins the parts of a file, and takes a part again', async () => {
    assert.equal(await files.write('one', 0, Buffer.from('abc')), 3)
    assert.equal(await files.write('one', 3, Buffer.from('def')), 6)
    assert.equal(await files.write('one', 3, Buffer.from('xy')), 5)
    assert.equal(readFileSync(files.pathOf('one'), 'utf8'), 'abcxy')
    assert.equal(await files.write('one', 0, Buffer.from('new')), 3)
  })

  test('refuses a part whose part before is missing, and a file that is too large', async () => {
    const part = Buffer.from('x')
    await assert.rejects(files.write('one', 4, part), {
      fields: { offset: [{ code: 'wrong_offset', expected: 3 }] },
    })
    await assert.rejects(files.write('two', 1, part), { code: 'validation_failed' })
    await assert.rejects(files.write('one', 1024 ** 3, part), { code: 'validation_failed' })
    assert.equal(files.has('two'), false)
  })

  test('keeps nothing of a part for which the disk has no room', { skip }, async () => {
    const disk = path.join(folder, 'disk')
    mountTmpfs(disk, 'size=64k')
    try {
      const small = new ImportFiles(disk, Number.NEGATIVE_INFINITY)
      const part = Buffer.alloc(48 * 1024, 'a')
      const noRoom = { code: 'unavailable', message: /no room for this file/ }
      await small.write('one', 0, part)
      await assert.rejects(small.write('one', part.length, part), noRoom)
      assert.deepEqual(readFileSync(small.pathOf('one')), part)
      await assert.rejects(small.write('two', 0, part), noRoom)
      assert.equal(small.has('two'), false)
      const rest = Buffer.from('bc')
      assert.equal(await small.write('one', part.length, rest), part.length + 2)
      assert.deepEqual(readFileSync(small.pathOf('one')), Buffer.concat([part, rest]))
    } finally {
      unmount(disk)
    }
  })

  test('removes old files that no import needs', async () => {
    for (const name of ['needed', 'stray']) {
      await files.write(name, 0, Buffer.from('x'))
      utimesSync(files.pathOf(name), 0, 0)
    }
    await files.sweep(async (found) => new Set(found.filter((name) => name === 'needed')))
    assert.deepEqual(
      ['one', 'needed', 'stray'].map((name) => files.has(name)),
      [true, true, false],
    )
  })
})
