import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changed, clickMigrations, partsOf } from './layout.ts'
import { CLICK_TABLES } from './schema.ts'

const CLUSTER = { cluster: 'west-1', partition: 'day', database: 'terse' } as const

describe('the tables of a cluster', () => {
  const statements = clickMigrations(CLUSTER).flatMap((step) => step.statements)
  const ofTable = (name: string) =>
    statements.filter((statement) => new RegExp(`exists ${name}(_local)? on`).test(statement))

  test('are created and changed on each server', () => {
    for (const statement of statements) {
      assert.match(statement, /^(create .*|alter table \w+_local) on cluster 'west-1' /)
    }
  })

  for (const { name, engine, shardBy } of CLICK_TABLES) {
    test(`${name} is a local table and a distributed one over it`, () => {
      const [local = '', distributed = ''] = ofTable(name)
      const isStored = engine !== 'Null'
      assert.equal(local.includes(`engine = Replicated${engine}(`), isStored)
      assert.equal(local.includes('replicated_deduplication_window'), isStored)
      const target = `Distributed('west-1', 'terse', '${name}_local', ${shardBy})`
      assert.ok(distributed.includes(target), distributed)
    })
  }

  test('are filled by views from local table to local table', () => {
    const views = statements.filter((statement) => statement.includes('materialized view'))
    for (const view of views) {
      assert.match(
        view,
        /^create materialized view if not exists \w+ on cluster 'west-1' to \w+_local as/,
      )
      assert.doesNotMatch(view, /incoming_clicks(?!_local)/)
    }
  })

  test('are partitioned by day where the setting says so', () => {
    assert.match(ofTable('clicks')[0] ?? '', /partition by toYYYYMMDD\(/)
  })

  test('are changed as local tables, and looked at on all servers', () => {
    assert.equal(changed('clicks', CLUSTER), "clicks_local on cluster 'west-1'")
    assert.match(partsOf(CLUSTER), /^clusterAllReplicas\('west-1', system\.parts\) where/)
  })
})
