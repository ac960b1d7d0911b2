import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { addPerson, addWorkspace, NOW, newPerson, unique } from './samples.ts'

describeStore('the store of people', (at) => {
  test('reports whether any person exists', async () => {
    assert.equal(await at.store.read.people.isEmpty(), true)
    await addPerson(at.store, { disabled_at: NOW })
    assert.equal(await at.store.read.people.isEmpty(), false)
  })

  test('finds a person by identifier and by folded e-mail address', async () => {
    const person = await addPerson(at.store, { is_operator: true })
    same(await at.store.read.people.findById(person.id), person)
    same(await at.store.read.people.findByEmail(person.email_folded), person)
    assert.equal(await at.store.read.people.findById(randomUUID()), undefined)
    assert.equal(await at.store.read.people.findByEmail('nobody@example.com'), undefined)
  })

  test('gives an e-mail address to one of several people who ask at the same time', async () => {
    const other = await at.another()
    const { email, email_folded } = newPerson()
    const added = await Promise.all(
      [at.store, other.store, at.store, other.store].map((store) =>
        store.write((stores) => stores.people.insert(newPerson({ email, email_folded }))),
      ),
    )
    assert.equal(added.filter(Boolean).length, 1)
  })

  test('changes only what is given', async () => {
    const person = await addPerson(at.store)
    const bystander = await addPerson(at.store)
    const change = (changes: object) =>
      at.store.write((stores) => stores.people.update(person.id, changes))
    await change({})
    same(await at.store.read.people.findById(person.id), person)
    await change({ name: 'Grace', is_operator: true })
    await change({ disabled_at: NOW + 1 })
    const after = { ...person, name: 'Grace', is_operator: true, disabled_at: NOW + 1 }
    same(await at.store.read.people.findById(person.id), after)
    same(await at.store.read.people.findById(bystander.id), bystander)
  })

  test('finds a person with the sealed password, or with none', async () => {
    const person = await addPerson(at.store)
    const find = () => at.store.read.people.findForSignIn(person.email_folded)
    same(await find(), { person, sealedPassword: null })
    const password = { sealed_hash: 'sealed', is_long: true, changed_at: NOW }
    await at.store.write((stores) => stores.passwords.set(person.id, password))
    same(await find(), { person, sealedPassword: 'sealed' })
    same(await at.store.read.passwords.find(person.id), password)
    assert.equal(await at.store.read.people.findForSignIn('nobody@example.com'), undefined)
  })

  test('replaces a password', async () => {
    const person = await addPerson(at.store)
    const first = { sealed_hash: 'first', is_long: true, changed_at: NOW }
    const second = { sealed_hash: 'second', is_long: false, changed_at: NOW + 1 }
    for (const password of [first, second]) {
      await at.store.write((stores) => stores.passwords.set(person.id, password))
    }
    same(await at.store.read.passwords.find(person.id), second)
    assert.equal(await at.store.read.passwords.find(randomUUID()), undefined)
  })
})

describeStore('the store of memberships', (at) => {
  async function join(workspaceId: string, personId: string, role: 'owner' | 'viewer' = 'viewer') {
    const membership = {
      workspace_id: workspaceId,
      person_id: personId,
      role,
      created_at: NOW,
      source: 'hand' as const,
    }
    const added = await at.store.write((stores) => stores.memberships.insert(membership))
    return { membership, added }
  }

  test('keeps one membership of a person in a workspace', async () => {
    const workspace = await addWorkspace(at.store)
    const person = await addPerson(at.store)
    const { membership, added } = await join(workspace.id, person.id)
    assert.equal(added, true)
    assert.equal((await join(workspace.id, person.id, 'owner')).added, false)
    same(await at.store.read.memberships.find(workspace.id, person.id), membership)
  })

  test('changes and deletes the role of one member alone', async () => {
    const workspace = await addWorkspace(at.store)
    const [ada, grace] = [await addPerson(at.store), await addPerson(at.store)]
    await join(workspace.id, ada.id)
    const { membership: bystander } = await join(workspace.id, grace.id)
    const find = async (id: string) => at.store.read.memberships.find(workspace.id, id)
    await at.store.write((s) => s.memberships.setRole(workspace.id, ada.id, 'admin', 'hand'))
    assert.equal((await find(ada.id))?.role, 'admin')
    await at.store.write((s) => s.memberships.delete(workspace.id, ada.id))
    assert.equal(await find(ada.id), undefined)
    same(await find(grace.id), bystander)
  })

  test('lists the workspaces of a person by name, without deleted ones', async () => {
    const person = await addPerson(at.store)
    const names = ['b', 'c', 'a'].map((letter) => unique(letter))
    for (const name of names) {
      const workspace = { id: randomUUID(), name, title: name, created_at: NOW }
      await at.store.write((stores) => stores.workspaces.insert(workspace))
      await join(workspace.id, person.id)
    }
    const listed = await at.store.read.memberships.listOfPerson(person.id)
    same(
      listed.map(({ workspace_name }) => workspace_name),
      names.toSorted(),
    )
  })

  test('counts owners who can sign in, and finds workspaces without an owner', async () => {
    const [owned, unowned] = [await addWorkspace(at.store), await addWorkspace(at.store)]
    const active = await addPerson(at.store)
    const disabled = await addPerson(at.store, { disabled_at: NOW })
    await join(owned.id, active.id, 'owner')
    await join(owned.id, disabled.id, 'owner')
    await join(unowned.id, active.id, 'viewer')
    assert.equal(await at.store.read.memberships.countOwners(owned.id), 1)
    assert.equal(await at.store.read.memberships.countOwners(unowned.id), 0)
    const without = await at.store.read.memberships.workspacesWithoutOwner()
    assert.ok(without.includes(unowned.id))
    assert.ok(!without.includes(owned.id))
  })
})
