import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { ImportFiles } from './import-files.ts'

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
    await assert.rejects(files.write('one', 4, part), { message: /offset must be 3 here/ })
    await assert.rejects(files.write('two', 1, part), { code: 'validation_failed' })
    await assert.rejects(files.write('one', 1024 ** 3, part), { code: 'validation_failed' })
    assert.equal(files.has('two'), false)
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
