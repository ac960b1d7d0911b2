import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { CompiledQuery } from 'kysely'
import { createFolder } from '../../../test/support/engines.ts'
import { SqliteConnection } from './connection.ts'

test('rows have the right names after another process has added a column', async (t) => {
  const folder = createFolder()
  t.after(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'terse.db')
  const [database, migrating] = [new DatabaseSync(file), new DatabaseSync(file)]
  try {
    migrating.exec('create table links (key text, url text); insert into links values (1, 2)')
    const query = CompiledQuery.raw(`select links.*, 'acme' as workspace from links`)
    const connection = new SqliteConnection(database)
    const rows = async () => (await connection.executeQuery(query)).rows
    assert.deepEqual(await rows(), [{ key: '1', url: '2', workspace: 'acme' }])
    migrating.exec("alter table links add column notes text default 'new'")
    assert.deepEqual(await rows(), [{ key: '1', url: '2', notes: 'new', workspace: 'acme' }])
  } finally {
    database.close()
    migrating.close()
  }
})
