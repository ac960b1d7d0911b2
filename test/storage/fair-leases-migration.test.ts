import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { fairLeases } from '../../src/app/database/migrations/006-fair-leases.ts'
import type { ColumnTypes } from '../../src/storage/migration.ts'
import { describeStore, type StoreUnderTest } from '../support/store.ts'
import { addDomain, addWorkspace, NOW, newSealedCertificate } from './samples.ts'

/** Restores the tables as they were before the migration. */
async function undo({ db }: StoreUnderTest): Promise<void> {
  for (const statement of [
    'drop index domain_checks_due',
    'drop index domain_checks_of_workspace',
    'alter table domain_checks drop column workspace_id',
    'create index domain_checks_due on domain_checks (next_at)',
    'drop index certificate_orders_due',
    'drop index certificate_orders_of_workspace',
    'alter table certificate_orders drop column workspace_id',
    'alter table certificate_orders drop column queue',
    'create index certificate_orders_due on certificate_orders (next_at, host)',
  ]) {
    await sql.raw(statement).execute(db)
  }
}

describeStore('the migration to fair leases', (at) => {
  test('sets the workspace of each check and order, and the queue of each order', async () => {
    const { store, db } = at
    const { id: workspace } = await addWorkspace(store)
    const active = async () => (await addDomain(store, workspace, { status: 'active' })).host
    const [renewed, begun, untried, failing] = [
      await active(),
      await active(),
      await active(),
      await active(),
    ]
    const pending = await addDomain(store, workspace)
    await store.write((stores) =>
      stores.certificates.save(newSealedCertificate({ host: renewed }), NOW),
    )
    await undo(at)
    const values = { attempts: 0, next_at: NOW, fence: 0 }
    await db
      .insertInto('certificate_orders')
      .values(
        [
          { ...values, host: renewed },
          { ...values, host: begun, directory: 'https://ca.example/' },
          { ...values, host: untried },
          { ...values, host: failing, attempts: 2 },
          { ...values, host: 'service.example', attempts: 1 },
        ].map((row) => ({ directory: null, ...row })),
      )
      .execute()
    await sql`insert into domain_checks (domain_id, since, attempts, next_at, fence)
      values (${pending.id}, ${NOW}, 0, ${NOW}, 0)`.execute(db)
    await fairLeases.up(db, {} as ColumnTypes, db)
    const orders = await db
      .selectFrom('certificate_orders')
      .select(['host', 'workspace_id', 'queue'])
      .execute()
    assert.deepEqual(
      new Map(orders.map(({ host, ...place }) => [host, { ...place }])),
      new Map([
        [renewed, { workspace_id: workspace, queue: 'ready' }],
        [begun, { workspace_id: workspace, queue: 'ready' }],
        [untried, { workspace_id: workspace, queue: 'new' }],
        [failing, { workspace_id: workspace, queue: 'failing' }],
        ['service.example', { workspace_id: '', queue: 'ready' }],
      ]),
    )
    assert.deepEqual(await store.read.domainChecks.findDueWorkspaces(0, NOW), [workspace])
  })
})
