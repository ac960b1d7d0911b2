import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Session } from '../../src/identity/sign-in/session.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { addPerson, NOW, newOneTimeLink, newSession, unique } from './samples.ts'

describeStore('the store of sessions', (at) => {
  async function add(personId: string, overrides: Partial<Session> = {}) {
    const session = newSession(personId, overrides)
    const hash = unique('hash')
    await at.store.write((stores) => stores.sessions.insert(session, hash))
    return { ...session, hash }
  }
  const list = (personId: string) => at.store.read.sessions.listOfPerson(personId)

  test('lists the sessions of a person, the last used first', async () => {
    const [ada, grace] = [await addPerson(at.store), await addPerson(at.store)]
    const older = await add(ada.id, { last_seen_at: NOW + 1 })
    const newer = await add(ada.id, { last_seen_at: NOW + 2 })
    await add(grace.id)
    same(await list(ada.id), [newer, older])
  })

  test('renews the secret of one session alone', async () => {
    const person = await addPerson(at.store)
    const session = await add(person.id, { last_seen_at: NOW + 1 })
    const bystander = await add(person.id)
    const renew = (id: string) =>
      at.store.write((stores) => stores.sessions.renew(id, 'renewed', NOW + 5))
    assert.equal(await renew(session.id), true)
    same(await list(person.id), [
      { ...session, hash: 'renewed', authenticated_at: NOW + 5 },
      bystander,
    ])
    assert.equal(await renew(randomUUID()), false)
  })

  test('never moves the last use back', async () => {
    const person = await addPerson(at.store)
    const { id } = await add(person.id)
    for (const at_ of [NOW + 9, NOW + 3]) {
      await at.store.write((stores) => stores.sessions.noteUse(id, at_))
    }
    assert.equal((await list(person.id))[0]?.last_seen_at, NOW + 9)
  })

  test('deletes a session of its person alone', async () => {
    const [ada, grace] = [await addPerson(at.store), await addPerson(at.store)]
    const session = await add(ada.id)
    const end = (personId: string) =>
      at.store.write((stores) => stores.sessions.delete(personId, session.id))
    assert.equal(await end(grace.id), false)
    assert.equal(await end(ada.id), true)
    assert.equal(await end(ada.id), false)
    same(await list(ada.id), [])
  })

  test('deletes all others, or all, or those beyond a number', async () => {
    const person = await addPerson(at.store)
    const bystander = await add((await addPerson(at.store)).id)
    const sessions = []
    for (let age = 0; age < 5; age += 1) {
      sessions.push(await add(person.id, { last_seen_at: NOW - age }))
    }
    const ids = async () => (await list(person.id)).map(({ id }) => id)
    await at.store.write((stores) => stores.sessions.deleteBeyond(person.id, 3))
    const [first, second, third] = sessions.map(({ id }) => id)
    same(await ids(), [first, second, third])
    const ended = await at.store.write((s) => s.sessions.deleteOthers(person.id, second))
    same(ended.toSorted(), [first, third].toSorted())
    same(await ids(), [second])
    await at.store.write((stores) => stores.sessions.deleteOthers(person.id, undefined))
    same(await ids(), [])
    same(await list(bystander.person_id), [bystander])
  })

  test('trims sessions that are too old or were not used for too long', async () => {
    const person = await addPerson(at.store)
    await add(person.id, { created_at: NOW - 10 })
    await add(person.id, { last_seen_at: NOW - 10 })
    const kept = await add(person.id)
    const ends = { createdBefore: NOW - 5, seenBefore: NOW - 5 }
    assert.equal(await at.store.write((stores) => stores.sessions.trim(ends)), false)
    same(await list(person.id), [kept])
  })
})

/** Returns the hashes of the code that is shown and of the one that is mailed. */
const hashesOf = (hash: string) => ({ shown: hash, mailed: `mailed ${hash}` })

describeStore('the store of one-time links', (at) => {
  test('finds and uses an open link once, by its hash and kind', async () => {
    const link = newOneTimeLink()
    const hash = unique('hash')
    await at.store.write((stores) => stores.oneTimeLinks.insert(link, hashesOf(hash)))
    const { findOpen } = at.store.read.oneTimeLinks
    same(await findOpen('setup', hash, NOW), { ...link, is_mailed: false })
    same(await findOpen('setup', `mailed ${hash}`, NOW), { ...link, is_mailed: true })
    assert.equal(await at.store.read.oneTimeLinks.findOpen('reset', hash, NOW), undefined)
    const use = (kind: 'setup' | 'reset') =>
      at.store.write((stores) => stores.oneTimeLinks.use(kind, hash, NOW + 1))
    assert.equal(await use('reset'), undefined)
    same(await use('setup'), { ...link, used_at: NOW + 1 })
    assert.equal(await use('setup'), undefined)
    assert.equal(await at.store.read.oneTimeLinks.findOpen('setup', hash, NOW), undefined)
  })

  test('is used by one of two transactions at once', async () => {
    const other = await at.another()
    const hash = unique('hash')
    await at.store.write((stores) => stores.oneTimeLinks.insert(newOneTimeLink(), hashesOf(hash)))
    const used = await Promise.all(
      [at.store, other.store].map((store) =>
        store.write((stores) => stores.oneTimeLinks.use('setup', hash, NOW)),
      ),
    )
    assert.equal(used.filter((link) => link !== undefined).length, 1)
  })

  test('treats a link as absent from the instant at which it expires', async () => {
    const link = newOneTimeLink({ kind: 'reset', expires_at: NOW + 10 })
    const hash = unique('hash')
    await at.store.write((stores) => stores.oneTimeLinks.insert(link, hashesOf(hash)))
    const { read } = at.store
    assert.equal(await read.oneTimeLinks.hasOpen('reset', NOW + 9), true)
    assert.equal(await read.oneTimeLinks.hasOpen('reset', NOW + 10), false)
    assert.equal(await read.oneTimeLinks.findOpen('reset', hash, NOW + 10), undefined)
    const use = () => at.store.write((s) => s.oneTimeLinks.use('reset', hash, NOW + 10))
    assert.equal(await use(), undefined)
  })

  test('trims those that expired before', async () => {
    const [old, kept] = [unique('hash'), unique('hash')]
    await at.store.write(async (stores) => {
      await stores.oneTimeLinks.insert(newOneTimeLink({ expires_at: NOW - 10 }), hashesOf(old))
      await stores.oneTimeLinks.insert(newOneTimeLink({ expires_at: NOW - 4 }), hashesOf(kept))
    })
    await at.store.write((stores) => stores.oneTimeLinks.trim(NOW - 5))
    const find = (hash: string) => at.store.read.oneTimeLinks.findOpen('setup', hash, NOW - 20)
    assert.equal(await find(old), undefined)
    assert.notEqual(await find(kept), undefined)
  })
})

describeStore('the store of used challenges', (at) => {
  test('lets one of several use a challenge', async () => {
    const other = await at.another()
    const hash = unique('hash')
    const won = await Promise.all(
      [at.store, other.store, at.store].map((store) =>
        store.write((stores) => stores.usedChallenges.use(hash, NOW)),
      ),
    )
    assert.equal(won.filter(Boolean).length, 1)
  })

  test('forgets those that expired', async () => {
    const hash = unique('hash')
    const use = () => at.store.write((stores) => stores.usedChallenges.use(hash, NOW))
    await use()
    await at.store.write((stores) => stores.usedChallenges.trim(NOW))
    assert.equal(await use(), false)
    await at.store.write((stores) => stores.usedChallenges.trim(NOW + 1))
    assert.equal(await use(), true)
  })
})
