import assert from 'node:assert/strict'
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createFolder as createTestFolder } from '../../../test/support/engines.ts'
import { createFolder } from './folder.ts'

describe('createFolder', () => {
  let root: string
  before(() => {
    root = createTestFolder()
  })
  after(() => rmSync(root, { recursive: true }))

  test('creates missing parent folders, accessible only to their owner', () => {
    const folder = path.join(root, 'a', 'b', 'c')
    createFolder(folder)
    assert.equal(statSync(folder).mode & 0o777, 0o700)
    assert.equal(statSync(path.dirname(folder)).mode & 0o777, 0o700)
  })

  test('leaves an existing folder unchanged', () => {
    createFolder(path.join(root, 'kept'))
    writeFileSync(path.join(root, 'kept', 'file'), '')
    createFolder(path.join(root, 'kept'))
    assert.ok(existsSync(path.join(root, 'kept', 'file')))
  })

  test('fails when the path is that of a file', () => {
    writeFileSync(path.join(root, 'file'), '')
    assert.throws(() => createFolder(path.join(root, 'file')), { code: 'EEXIST' })
    assert.throws(() => createFolder(path.join(root, 'file', 'below')), { code: /ENOTDIR|EEXIST/ })
  })

  test('fails without an endless loop when the file system cannot hold a folder', (t) => {
    if (!existsSync('/proc/self')) return t.diagnostic('this system has no /proc')
    assert.throws(() => createFolder('/proc/terse-test'), { code: 'ENOENT' })
  })
})
