import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UniqueViolation } from '../../src/storage/store.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { addHome, addKeyspace, addLink, addWorkspace, unique } from './samples.ts'

describeStore('the keyspace store', (at) => {
  const find = (workspaceId: string, host: string) =>
    at.store.read.keyspaces.find(workspaceId, host)

  test('creates one keyspace for each workspace and host', async () => {
    const [mine, theirs] = [await addWorkspace(at.store), await addWorkspace(at.store)]
    const open = (workspaceId: string, host: string) =>
      at.store.write((stores) => stores.keyspaces.open(workspaceId, host))
    assert.equal(await find(mine.id, 'a.example'), undefined)
    const id = await open(mine.id, 'a.example')
    assert.equal(await open(mine.id, 'a.example'), id)
    assert.equal(await find(mine.id, 'a.example'), id)
    const others = [await open(theirs.id, 'a.example'), await open(mine.id, 'b.example')]
    assert.equal(new Set([id, ...others]).size, 3)
  })

  test('creates one keyspace when several processes ask at the same time', async () => {
    const workspace = await addWorkspace(at.store)
    const other = await at.another()
    const ids = await Promise.all(
      [at.store, other.store, at.store, other.store].map((store) =>
        store.write((stores) => stores.keyspaces.open(workspace.id, 'contested.example')),
      ),
    )
    same([...new Set(ids)], [await find(workspace.id, 'contested.example')])
  })

  test('keeps its links when it moves to another host', async () => {
    const home = await addHome(at.store)
    const link = await addLink(at.store, home)
    const host = `${unique('new')}.example`
    await at.store.write((stores) => stores.keyspaces.rename(home.workspace_id, home.domain, host))
    assert.equal(await find(home.workspace_id, home.domain), undefined)
    assert.equal(await find(home.workspace_id, host), home.keyspace_id)
    const moved = await at.store.read.links.findById(home.workspace_id, link.id)
    same(moved, { ...link, domain: host })
  })

  test('does not move to a host where the workspace already has a keyspace', async () => {
    const home = await addHome(at.store)
    const other = await addKeyspace(at.store, home.workspace_id)
    await assert.rejects(
      at.store.write((stores) =>
        stores.keyspaces.rename(home.workspace_id, home.domain, other.domain),
      ),
      UniqueViolation,
    )
    assert.equal(await find(home.workspace_id, home.domain), home.keyspace_id)
    assert.equal(await find(home.workspace_id, other.domain), other.keyspace_id)
  })

  test('moves to a host where another workspace has a keyspace', async () => {
    const [home, foreign] = [await addHome(at.store), await addHome(at.store)]
    await at.store.write((stores) =>
      stores.keyspaces.rename(home.workspace_id, home.domain, foreign.domain),
    )
    assert.equal(await find(home.workspace_id, foreign.domain), home.keyspace_id)
    assert.equal(await find(foreign.workspace_id, foreign.domain), foreign.keyspace_id)
  })

  test('is deleted only when it is empty', async () => {
    const home = await addHome(at.store)
    const foreign = await addHome(at.store)
    const link = await addLink(at.store, home)
    const deleteIfEmpty = () =>
      at.store.write((stores) => stores.keyspaces.deleteIfEmpty(home.workspace_id, home.domain))
    await deleteIfEmpty()
    assert.equal(await find(home.workspace_id, home.domain), home.keyspace_id)
    await at.store.write((stores) => stores.links.delete(home.workspace_id, link.id))
    await deleteIfEmpty()
    assert.equal(await find(home.workspace_id, home.domain), undefined)
    assert.equal(await find(foreign.workspace_id, foreign.domain), foreign.keyspace_id)
  })

  test('has one shared keyspace, which moves with the host of the service', async () => {
    const other = await at.another()
    const openShared = (store = at.store, host = 'go.example') =>
      store.write((stores) => stores.keyspaces.openShared(host))
    const first = await Promise.all(
      [at.store, other.store, at.store, other.store].map((store) => openShared(store)),
    )
    const id = first[0]?.id ?? 0
    for (const shared of first) same(shared, { id, movedFrom: undefined })
    same(await openShared(other.store, 'to.example'), { id, movedFrom: 'go.example' })
    same(await openShared(other.store, 'to.example'), { id, movedFrom: undefined })
  })
})
