import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { NOW, newWorkspace } from './samples.ts'

describeStore('the workspace store', (at) => {
  test('finds a workspace by its name, with its time to the microsecond', async () => {
    const workspace = newWorkspace()
    assert.equal(await at.store.write((stores) => stores.workspaces.insert(workspace)), true)
    same(await at.store.read.workspaces.findByName(workspace.name), workspace)
    assert.equal(await at.store.read.workspaces.findByName('nobody'), undefined)
  })

  test('rejects an existing name, and leaves its owner unchanged', async () => {
    const first = newWorkspace()
    const second = newWorkspace({ name: first.name })
    await at.store.write((stores) => stores.workspaces.insert(first))
    assert.equal(await at.store.write((stores) => stores.workspaces.insert(second)), false)
    same(await at.store.read.workspaces.findByName(first.name), first)
  })

  test('gives a name to one of several processes that ask at the same time', async () => {
    const other = await at.another()
    const { name } = newWorkspace()
    const won = await Promise.all(
      [at.store, other.store, at.store, other.store].map((store) =>
        store.write((stores) => stores.workspaces.insert(newWorkspace({ name }))),
      ),
    )
    assert.equal(won.filter(Boolean).length, 1)
  })

  test('lists the oldest first', async () => {
    const ages = [30, 10, 20]
    for (const age of ages) {
      const workspace = newWorkspace({ name: `aged-${age}`, created_at: NOW + age })
      await at.store.write((stores) => stores.workspaces.insert(workspace))
    }
    const names = (await at.store.read.workspaces.list()).map((workspace) => workspace.name)
    same(
      names.filter((name) => name.startsWith('aged-')),
      ['aged-10', 'aged-20', 'aged-30'],
    )
  })
})
