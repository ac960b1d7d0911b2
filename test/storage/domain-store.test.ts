import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { StaleRow, UniqueViolation } from '../../src/storage/store.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { addDomain, addWorkspace, NOW, newDomain } from './samples.ts'

describeStore('the domain store', (at) => {
  test('finds a claim by id and by host, only in its own workspace', async () => {
    const [mine, theirs] = [await addWorkspace(at.store), await addWorkspace(at.store)]
    const domain = await addDomain(at.store, mine.id, {
      not_found_url: 'https://example.com/lost',
      expired_url: 'https://example.com/late',
    })
    const { domains } = at.store.read
    same(await domains.findById(mine.id, domain.id), domain)
    same(await domains.findByHost(mine.id, domain.host), domain)
    assert.equal(await domains.findById(theirs.id, domain.id), undefined)
    assert.equal(await domains.findByHost(theirs.id, domain.host), undefined)
    assert.equal(await domains.findById(mine.id, randomUUID()), undefined)
  })

  test('accepts claims of several workspaces on a host, one from each', async () => {
    const [mine, theirs] = [await addWorkspace(at.store), await addWorkspace(at.store)]
    const { host } = await addDomain(at.store, mine.id)
    const insert = (workspaceId: string) =>
      at.store.write((stores) => stores.domains.insert(newDomain(workspaceId, { host })))
    assert.equal(await insert(mine.id), false)
    assert.equal(await insert(theirs.id), true)
  })

  test('accepts one active claim of a host', async () => {
    const [mine, theirs] = [await addWorkspace(at.store), await addWorkspace(at.store)]
    const first = await addDomain(at.store, mine.id)
    const second = await addDomain(at.store, theirs.id, { host: first.host })
    const activate = (id: string, host = first.host) =>
      at.store.write((stores) => stores.domains.activate(id, host, NOW + 5))
    assert.equal(await at.store.read.domains.findActive(first.host), undefined)
    assert.equal(await activate(first.id, 'renamed.example'), false, 'another host is not proved')
    assert.equal(await activate(first.id), true)
    assert.equal(await activate(first.id), false, 'it is not pending any more')
    await assert.rejects(activate(second.id), UniqueViolation)
    const active = { ...first, status: 'active' as const, updated_at: NOW + 5 }
    same(await at.store.read.domains.findActive(first.host), active)
    same(await at.store.read.domains.findById(theirs.id, second.id), second)
    assert.equal(await activate(randomUUID()), false)
  })

  test('activates one claim when several processes activate theirs at the same time', async () => {
    const other = await at.another()
    const first = await addDomain(at.store, (await addWorkspace(at.store)).id)
    const second = await addDomain(at.store, (await addWorkspace(at.store)).id, {
      host: first.host,
    })
    const outcomes = await Promise.allSettled([
      at.store.write((stores) => stores.domains.activate(first.id, first.host, NOW)),
      other.store.write((stores) => stores.domains.activate(second.id, first.host, NOW)),
    ])
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    assert.equal(refused.length, 1)
    assert.ok(refused[0]?.reason instanceof UniqueViolation)
  })

  test('moves updated_at forward when a claim becomes active, whatever the clock says', async () => {
    const workspace = await addWorkspace(at.store)
    const domain = await addDomain(at.store, workspace.id)
    await at.store.write((stores) =>
      stores.domains.activate(domain.id, domain.host, NOW - 1_000_000),
    )
    const active = await at.store.read.domains.findById(workspace.id, domain.id)
    assert.equal(active?.updated_at, NOW + 1)
  })

  test('updates everything but the identifiers', async () => {
    const workspace = await addWorkspace(at.store)
    const domain = await addDomain(at.store, workspace.id, { status: 'active' })
    const next = {
      ...newDomain(randomUUID(), { id: domain.id, created_at: NOW + 7, updated_at: NOW + 8 }),
      not_found_url: 'https://example.com/lost',
      expired_url: 'https://example.com/late',
    }
    await at.store.write((stores) => stores.domains.update(next, domain.updated_at))
    same(await at.store.read.domains.findById(workspace.id, domain.id), {
      ...next,
      workspace_id: domain.workspace_id,
      created_at: domain.created_at,
    })
  })

  test('rejects an update based on a stale read', async () => {
    const workspace = await addWorkspace(at.store)
    const domain = await addDomain(at.store, workspace.id)
    const newer = { ...domain, expired_url: 'https://example.com/', updated_at: NOW + 1 }
    await at.store.write(async (stores) => {
      await stores.domains.update(newer, NOW)
      await assert.rejects(stores.domains.update({ ...domain, updated_at: NOW + 2 }, NOW), StaleRow)
    })
    same(await at.store.read.domains.findById(workspace.id, domain.id), newer)
  })

  test('rejects an update to a host that the workspace has already claimed', async () => {
    const workspace = await addWorkspace(at.store)
    const domain = await addDomain(at.store, workspace.id)
    const { host } = await addDomain(at.store, workspace.id)
    const next = { ...domain, host, updated_at: NOW + 1 }
    await assert.rejects(
      at.store.write((stores) => stores.domains.update(next, NOW)),
      UniqueViolation,
    )
    same(await at.store.read.domains.findById(workspace.id, domain.id), domain)
  })

  test('deletes a claim once, and only for its own workspace', async () => {
    const [mine, theirs] = [await addWorkspace(at.store), await addWorkspace(at.store)]
    const domain = await addDomain(at.store, mine.id)
    const remove = (workspaceId: string) =>
      at.store.write((stores) => stores.domains.delete(workspaceId, domain.id))
    assert.equal(await remove(theirs.id), undefined)
    same(await remove(mine.id), domain)
    assert.equal(await remove(mine.id), undefined)
    assert.equal(await at.store.read.domains.findById(mine.id, domain.id), undefined)
  })

  test('pages through a workspace’s claims, newest first', async () => {
    const workspace = await addWorkspace(at.store)
    await addDomain(at.store, (await addWorkspace(at.store)).id)
    const added = []
    for (const age of [3, 1, 4, 0, 2]) {
      added[age] = await addDomain(at.store, workspace.id, { created_at: NOW - age })
    }
    const page = (offset: number) =>
      at.store.read.domains.page({ workspaceId: workspace.id }, offset, 2)
    same(await page(0), { items: added.slice(0, 2), total: 5 })
    same(await page(2), { items: added.slice(2, 4), total: 5 })
    same(await page(4), { items: added.slice(4), total: 5 })
    same(await page(6), { items: [], total: 5 })
    same(await page(Number.MAX_SAFE_INTEGER), { items: [], total: 5 })
  })

  test('iterates over all pending claims in the order of their identifiers', async () => {
    const workspace = await addWorkspace(at.store)
    const pending = []
    for (let count = 0; count < 5; count += 1) {
      pending.push((await addDomain(at.store, workspace.id)).id)
      await addDomain(at.store, workspace.id, { status: 'active' })
    }
    const walked: string[] = []
    let afterId = '00000000-0000-0000-0000-000000000000'
    for (;;) {
      const batch = await at.store.read.domains.pendingAfter(afterId, 2)
      assert.ok(batch.length <= 2)
      for (const domain of batch) assert.equal(domain.status, 'pending')
      const last = batch.at(-1)
      if (last === undefined) break
      walked.push(...batch.map(({ id }) => id))
      afterId = last.id
    }
    same(walked, [...new Set(walked)].sort())
    same(
      pending.filter((id) => !walked.includes(id)),
      [],
    )
  })
})
