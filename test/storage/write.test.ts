import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FullStore } from '../../src/app/database/stores.ts'
import { Failure } from '../../src/platform/failure.ts'
import { type Change, hostChange, linkChange } from '../../src/storage/changes.ts'
import { StaleRow } from '../../src/storage/store.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { addHome, addLink, insertLink, listOf, NOW, newDomain, newWorkspace } from './samples.ts'

describeStore('Store.write', (at) => {
  const nameExists = async (name: string) =>
    (await at.store.read.workspaces.findByName(name)) !== undefined

  test('commits all of a transaction or nothing', async () => {
    const home = await addHome(at.store)
    const kept = await addLink(at.store, home)
    const workspace = newWorkspace()
    const fault = new Error('on purpose')
    const write = at.store.write(async (stores) => {
      await stores.workspaces.insert(workspace)
      await stores.domains.insert(newDomain(workspace.id))
      await insertLink(stores, home, { tags: ['undone'] })
      await stores.links.delete(home.workspace_id, kept.id)
      await stores.instance.keep('undone', 'value')
      throw fault
    })
    await assert.rejects(write, (error) => error === fault)
    assert.equal(await nameExists(workspace.name), false)
    assert.equal(await at.store.read.instance.find('undone'), undefined)
    same(await at.store.read.links.page(listOf(home.workspace_id)), { items: [kept], total: 1 })
  })

  test('rolls back only the one that throws among transactions of the same turn', async () => {
    const names = Array.from({ length: 30 }, () => newWorkspace())
    const outcomes = await Promise.allSettled(
      names.map((workspace, index) =>
        at.store.write(async (stores) => {
          await stores.workspaces.insert(workspace)
          if (index % 3 === 0) throw new Error(`write ${index}`)
          return index
        }),
      ),
    )
    for (const [index, outcome] of outcomes.entries()) {
      const undone = index % 3 === 0
      assert.equal(await nameExists(names[index]?.name ?? ''), !undone, `write ${index}`)
      if (outcome.status === 'fulfilled') assert.equal(outcome.value, index)
      else assert.equal(outcome.reason.message, `write ${index}`)
    }
  })

  test('rolls back a transaction whose statement failed, even if it catches the error', async () => {
    const [first, second] = [newWorkspace(), newWorkspace()]
    await at.store.write((stores) => stores.workspaces.insert(first))
    const write = at.store.write(async (stores) => {
      await stores.workspaces.insert(second)
      // The same identifier under another name: a unique constraint that the store does not expect.
      await stores.workspaces.insert({ ...newWorkspace(), id: first.id })
    })
    await assert.rejects(write, { name: 'UniqueViolation' })
    assert.equal(await nameExists(second.name), false)
  })

  test('shows a transaction its own writes, and others only committed ones', async () => {
    const workspace = newWorkspace()
    await at.store.write(async (stores) => {
      await stores.workspaces.insert(workspace)
      same(await stores.workspaces.findByName(workspace.name), workspace)
      assert.equal(await nameExists(workspace.name), false)
    })
    assert.equal(await nameExists(workspace.name), true)
  })

  test('shows committed writes to another process', async () => {
    const { store } = await at.another()
    const workspace = newWorkspace()
    await at.store.write((stores) => stores.workspaces.insert(workspace))
    same(await store.read.workspaces.findByName(workspace.name), workspace)
  })

  test('retries a transaction that conflicts with another writer', async () => {
    const workspace = newWorkspace()
    let runs = 0
    const result = await at.store.write(async (stores) => {
      runs += 1
      await stores.workspaces.insert(workspace)
      await stores.changes.append(hostChange(`run-${runs}.example`), NOW)
      if (runs < 3) throw new StaleRow()
      return 'done'
    })
    assert.equal(result, 'done')
    assert.equal(runs, 3)
    assert.equal(await nameExists(workspace.name), true)
  })

  test('gives up on a transaction that conflicts every time', async () => {
    const write = at.store.write(async () => {
      throw new StaleRow()
    })
    await assert.rejects(write, (error) => error instanceof Failure && error.code === 'unavailable')
  })

  test('loses no update of two processes that read before they write', async () => {
    const home = await addHome(at.store)
    const link = await addLink(at.store, home)
    const increment = (store: FullStore) =>
      store.write(async (stores) => {
        const current = await stores.links.findById(home.workspace_id, link.id)
        if (current === undefined) throw new Error('the link is gone')
        const external_id = (current.external_id ?? 0) + 1
        const next = { ...current, external_id, updated_at: current.updated_at + 1 }
        await stores.links.update(next, current)
      })
    const { store } = await at.another()
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([at.store, store, at.store, store].map(increment))
    }
    const found = await at.store.read.links.findById(home.workspace_id, link.id)
    same(found, { ...link, external_id: 20, updated_at: NOW + 20 })
  })
})

describeStore('Store.onChange', (at) => {
  test('notifies every listener of a transaction’s changes after the commit, before the write settles', async () => {
    const notified: { changes: readonly Change[]; committed: Promise<boolean> }[] = []
    const notifiedSecond: Change[] = []
    const workspace = newWorkspace()
    at.store.onChange((changes) => {
      const found = at.store.read.workspaces.findByName(workspace.name)
      notified.push({ changes, committed: found.then((row) => row !== undefined) })
    })
    at.store.onChange((changes) => notifiedSecond.push(...changes))
    const changes = [hostChange('a.example'), linkChange(1, 'key'), hostChange('b.example')]
    let notifiedBeforeCommit = 0
    await at.store.write(async (stores) => {
      for (const change of changes) await stores.changes.append(change, NOW)
      await stores.workspaces.insert(workspace)
      notifiedBeforeCommit = notified.length
    })
    assert.equal(notifiedBeforeCommit, 0)
    assert.equal(notified.length, 1)
    same(notified[0]?.changes, changes)
    assert.equal(await notified[0]?.committed, true)
    same(notifiedSecond, changes)
  })

  test('notifies no listener of a transaction that was rolled back or changed nothing', async () => {
    const notified: Change[] = []
    let emptyCalls = 0
    at.store.onChange((changes) => {
      if (changes.length === 0) emptyCalls += 1
      notified.push(...changes)
    })
    const outcomes = await Promise.allSettled([
      at.store.write((stores) => stores.changes.append(hostChange('first.example'), NOW)),
      at.store.write(async (stores) => {
        await stores.changes.append(hostChange('undone.example'), NOW)
        throw new Error('on purpose')
      }),
      at.store.write((stores) => stores.instance.keep('silent', 'value')),
      at.store.write((stores) => stores.changes.append(hostChange('last.example'), NOW)),
    ])
    assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 1)
    same(notified.map(({ subject }) => subject).sort(), ['first.example', 'last.example'])
    await at.store.write((stores) => stores.instance.keep('silent too', 'value'))
    assert.equal(emptyCalls, 0)
  })

  test('notifies listeners only of the committed run when a transaction was retried', async () => {
    const notified: Change[] = []
    at.store.onChange((changes) => notified.push(...changes))
    let runs = 0
    await at.store.write(async (stores) => {
      runs += 1
      await stores.changes.append(hostChange(`run-${runs}.example`), NOW)
      if (runs === 1) throw new StaleRow()
    })
    same(notified, [hostChange('run-2.example')])
  })

  test('notifies listeners of one process’s transactions in commit order', async () => {
    const notified: string[] = []
    at.store.onChange((changes) => notified.push(...changes.map(({ subject }) => subject)))
    for (let count = 0; count < 10; count += 1) {
      await at.store.write((stores) => stores.changes.append(hostChange(`${count}.example`), NOW))
    }
    same(
      notified,
      [...Array(10).keys()].map((count) => `${count}.example`),
    )
  })
})
