import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { quotas } from '../../src/app/database/migrations/008-quotas.ts'
import { NO_OVERRIDES } from '../../src/identity/quotas/quota.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { addHome, addLink, insertLink, NOW } from './samples.ts'

describeStore('quotas of a workspace', (at) => {
  test('are returned as they were set, per scope', async () => {
    const { workspace_id } = await addHome(at.store)
    assert.equal(await at.store.read.quotas.find(workspace_id), undefined)
    for (const own of [
      { ...NO_OVERRIDES, links: 5, storage_bytes: 2 ** 50 },
      { ...NO_OVERRIDES, links: 0, requests_per_minute: 7 },
    ]) {
      await at.store.write((stores) => stores.quotas.set(workspace_id, own))
      same(await at.store.read.quotas.find(workspace_id), own)
      same((await at.store.read.quotas.list()).get(workspace_id), own)
    }
  })

  test('count what a transaction has written, before it commits', async () => {
    const home = await addHome(at.store)
    const { links } = await at.store.write(async (stores) => {
      await insertLink(stores, home)
      return stores.quotas.countLinks(home.workspace_id)
    })
    assert.equal(links, 1)
  })

  test('count the bytes of links that an older release has created', async () => {
    const home = await addHome(at.store)
    for (const fields of [
      { key: 'été', url: 'https://example.com/', tags: ['ü'], utm_name: 'A/B' },
      { key: 'b', password: 'sealed', expires_at: '2030-01-02T03:04:05.678901Z', external_id: 7 },
    ]) {
      await addLink(at.store, home, { ...fields, updated_at: NOW })
    }
    const { countLinks } = at.store.read.quotas
    const counted = await countLinks(home.workspace_id)
    assert.ok(counted.storage_bytes > 60)
    const db = (await at.another()).db
    await sql`drop table workspace_quotas`.execute(db)
    await sql`alter table link_buckets drop column bytes`.execute(db)
    const uuid = at.engine.startsWith('SQLite') ? 'text' : 'uuid'
    await quotas.up(db, { uuid } as Parameters<typeof quotas.up>[1], db)
    assert.deepEqual(await countLinks(home.workspace_id), counted)
  })
})
