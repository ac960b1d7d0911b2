import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { labels } from '../../src/app/database/migrations/036-labels.ts'
import type { ColumnTypes } from '../../src/storage/migration.ts'
import { describeStore } from '../support/store.ts'
import { addHome, addLink } from './samples.ts'

const TYPES = { uuid: 'text', bytewiseText: 'text', rawClickLabels: [] } as unknown as ColumnTypes

describeStore('the migration to labels', (at, engine) => {
  test('leaves labels off, but where rules of a link ask for them', async () => {
    const { store, db } = at
    const [plain, withRules] = [await addHome(store), await addHome(store)]
    const then = { url: 'https://example.com/' }
    const rule = (id: string, when: object) => ({ id, when, then })
    await addLink(store, plain, { rules: [rule('a', { country: ['DE'] })] })
    await addLink(store, withRules, { rules: [rule('b', { not: { label: ['newsletter'] } })] })
    await sql`drop table label_settings`.execute(db)
    const types = engine.name === 'SQLite' ? TYPES : ({ ...TYPES, uuid: 'uuid' } as ColumnTypes)
    await labels.up(db, types, db)
    const later = await addHome(store)
    const parameterOf = async ({ workspace_id }: { workspace_id: string }) =>
      (await store.read.labels.find(workspace_id)).parameter
    assert.equal(await parameterOf(plain), null)
    assert.equal(await parameterOf(withRules), 'via')
    assert.equal(await parameterOf(later), 'via')
  })
})
