import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { Failure } from '../../src/platform/failure.ts'
import { inTransaction } from '../../src/storage/sqlite/transaction.ts'
import { createFolder } from '../support/engines.ts'

describe('a failing SQLite file', () => {
  let folder: string
  let file: string
  beforeEach(() => {
    folder = createFolder()
    file = path.join(folder, 'some.db')
    const database = new DatabaseSync(file)
    database.exec('create table t (text)')
    database.close()
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const FAULTS: readonly {
    readonly name: string
    readonly text: RegExp
    open(): DatabaseSync
  }[] = [
    {
      name: 'on a full disk',
      text: /^The disk of the folder .+ is full\. Nothing can be stored/,
      open() {
        const database = new DatabaseSync(file)
        database.exec('pragma max_page_count = 1')
        return database
      },
    },
    {
      name: 'that is read-only',
      text: /^The folder .+ is read-only\. Nothing can be stored/,
      open: () => new DatabaseSync(file, { readOnly: true }),
    },
    {
      name: 'that is damaged',
      text: /^A database file in .+ is damaged\.$/,
      open() {
        writeFileSync(file, Buffer.alloc(8192, 'x'))
        return new DatabaseSync(file)
      },
    },
  ]
  for (const { name, text, open } of FAULTS) {
    test(`makes the store unavailable with a message that names its folder: a file ${name}`, async () => {
      const database = open()
      const write = () => {
        database.prepare('insert into t values (?)').run('x'.repeat(100_000))
      }
      await assert.rejects(inTransaction(database, 100, write), (error) => {
        assert.ok(error instanceof Failure)
        assert.equal(error.code, 'unavailable')
        assert.match(error.message, text)
        assert.ok(error.message.includes(folder))
        return true
      })
      database.close()
    })
  }
})
