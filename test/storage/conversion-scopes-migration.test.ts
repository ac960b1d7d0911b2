import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conversionScopes } from '../../src/app/database/migrations/046-conversion-scopes.ts'
import type { ColumnTypes } from '../../src/storage/migration.ts'
import { describeStore } from '../support/store.ts'
import { addWorkspace, newToken, unique } from './samples.ts'

const EVERY = [
  ...(['links:read', 'links:write', 'domains:read', 'domains:write'] as const),
  ...(['clicks:read', 'workspace:admin'] as const),
]

describeStore('the migration to scopes for conversions', (at) => {
  test('gives them to a token with every scope of before, and to no other token', async () => {
    const { store, db } = at
    const { id: workspaceId } = await addWorkspace(store)
    const tokens = [EVERY, ...EVERY.map((left) => EVERY.filter((scope) => scope !== left))].map(
      (scopes) => newToken(workspaceId, { scopes }),
    )
    for (const token of tokens) {
      await store.write((stores) => stores.tokens.insert(token, unique('hash')))
    }
    await conversionScopes.up(db, {} as ColumnTypes, db)
    const [every, ...fewer] = await Promise.all(
      tokens.map(async ({ id }) => (await store.read.tokens.findById(id))?.scopes),
    )
    assert.deepEqual(every, [...EVERY, 'conversions:read', 'conversions:write'])
    assert.deepEqual(
      fewer,
      tokens.slice(1).map(({ scopes }) => scopes),
    )
  })
})
