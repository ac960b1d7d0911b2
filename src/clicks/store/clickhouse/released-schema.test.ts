import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { clickMigrations } from './layout.ts'

/**
 * The hash of each released step. A step that fails here was edited: databases that have run it would differ from new
 * ones. Undo the edit and add a step instead.
 */
const RELEASED = [
  { name: 'clicks', hash: '8c1af352055518f9' },
  { name: 'busy days', hash: 'aba39492f1ac39d6' },
]

test('the steps of the ClickHouse schema write the same statements as when they were released', () => {
  const single = { cluster: undefined, partition: 'month', database: 'terse' } as const
  const written = clickMigrations(single).map(({ name, statements }) => {
    const texts = statements.map((statement) => statement.replaceAll(/\s+/g, ' '))
    const hash = createHash('sha256').update(JSON.stringify(texts)).digest('hex')
    return { name, hash: hash.slice(0, 16) }
  })
  assert.deepEqual(written, RELEASED)
})
