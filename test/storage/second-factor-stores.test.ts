import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Stores } from '../../src/app/database/stores.ts'
import { UniqueViolation } from '../../src/storage/store.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { addPerson, NOW, newIdentity, newPasskey, unique } from './samples.ts'

describeStore('the stores of second factors', (at) => {
  const write = <T>(work: (stores: Stores) => Promise<T>) => at.store.write(work)

  /** Runs the same transaction on two nodes at once, a few times each. */
  async function race(work: (stores: Stores) => Promise<boolean>): Promise<readonly boolean[]> {
    const { store: other } = await at.another()
    const runs = [at.store, other, at.store, other].map((store) => store.write(work))
    return Promise.all(runs)
  }

  async function addTotp(sealedSecret = 'sealed') {
    const { id } = await addPerson(at.store)
    await write(async (stores) => {
      await stores.totp.setPending(id, sealedSecret)
      assert.ok(await stores.totp.confirm(id, { sealedSecret, step: 10, atMicros: NOW }))
    })
    return id
  }

  test('a step of an authenticator app is used once by two nodes at once', async () => {
    const id = await addTotp()
    const results = await race((stores) => stores.totp.useStep(id, 'sealed', 11))
    same(results.toSorted(), [false, false, false, true])
  })

  test('a step is refused after it or a later one, and for a replaced secret', async () => {
    const id = await addTotp()
    const use = (secret: string, step: number) =>
      write((stores) => stores.totp.useStep(id, secret, step))
    assert.equal(await use('sealed', 10), false)
    assert.equal(await use('other', 12), false)
    assert.equal(await use('sealed', 12), true)
    assert.equal(await use('sealed', 11), false)
  })

  test('an app stays in force until a code of the next one confirms that', async () => {
    const id = await addTotp()
    await write((stores) => stores.totp.setPending(id, 'next'))
    same(await at.store.read.totp.find(id), { sealed_secret: 'sealed', pending_secret: 'next' })
    const confirm = (sealedSecret: string) =>
      write((stores) => stores.totp.confirm(id, { sealedSecret, step: 20, atMicros: NOW }))
    assert.equal(await confirm('sealed'), false)
    assert.equal(await confirm('next'), true)
    same(await at.store.read.totp.find(id), { sealed_secret: 'next', pending_secret: null })
    assert.equal(await write((stores) => stores.totp.remove(id)), true)
    assert.equal(await write((stores) => stores.totp.remove(id)), false)
  })

  test('a recovery code is used once by two nodes at once, and by its person alone', async () => {
    const [ada, grace] = [await addPerson(at.store), await addPerson(at.store)]
    await write((stores) => stores.recoveryCodes.replace(ada.id, ['first', 'second']))
    const { recoveryCodes } = at.store.read
    assert.equal(await recoveryCodes.isUnused(ada.id, 'first'), true)
    assert.equal(await write((s) => s.recoveryCodes.use(grace.id, 'first', NOW)), false)
    const results = await race((stores) => stores.recoveryCodes.use(ada.id, 'first', NOW))
    same(results.toSorted(), [false, false, false, true])
    assert.equal(await recoveryCodes.isUnused(ada.id, 'first'), false)
    assert.equal(await recoveryCodes.countUnused(ada.id), 1)
    await write((stores) => stores.recoveryCodes.replace(ada.id, ['third']))
    assert.equal(await write((s) => s.recoveryCodes.use(ada.id, 'second', NOW)), false)
    assert.equal(await recoveryCodes.countUnused(ada.id), 1)
  })

  test('a passkey is found by its credential, renamed and removed by its person alone', async () => {
    const [ada, grace] = [await addPerson(at.store), await addPerson(at.store)]
    const passkey = newPasskey(ada.id)
    await write((stores) => stores.passkeys.insert(passkey))
    same(await at.store.read.passkeys.findByCredential(passkey.credential_id), passkey)
    const copy = newPasskey(grace.id, { credential_id: passkey.credential_id })
    await assert.rejects(
      write((stores) => stores.passkeys.insert(copy)),
      UniqueViolation,
    )
    const rename = (personId: string) =>
      write((stores) => stores.passkeys.rename(personId, passkey.id, 'Phone'))
    assert.equal(await rename(grace.id), undefined)
    same(await rename(ada.id), passkey)
    same(await at.store.read.passkeys.list(ada.id), [{ ...passkey, name: 'Phone' }])
    assert.equal(await write((s) => s.passkeys.remove(grace.id, passkey.id)), undefined)
    assert.equal((await write((s) => s.passkeys.remove(ada.id, passkey.id)))?.id, passkey.id)
    same(await at.store.read.passkeys.list(ada.id), [])
  })

  test('the counter of a passkey must rise, unless it is always 0', async () => {
    const { id: personId } = await addPerson(at.store)
    const counting = newPasskey(personId, { counter: 5 })
    const silent = newPasskey(personId, { counter: 0 })
    await write(async (stores) => {
      await stores.passkeys.insert(counting)
      await stores.passkeys.insert(silent)
    })
    const use = (id: string, counter: number) =>
      write((stores) => stores.passkeys.noteUse(id, counter, NOW))
    assert.equal(await use(silent.id, 0), true)
    assert.equal(await use(silent.id, 0), true)
    assert.equal(await use(counting.id, 0), false)
    assert.equal(await use(counting.id, 5), false)
    same((await race((s) => s.passkeys.noteUse(counting.id, 6, NOW))).toSorted(), [
      false,
      false,
      false,
      true,
    ])
  })

  test('a challenge is redeemed once by two nodes at once', async () => {
    const challenge = unique('challenge')
    const results = await race((stores) => stores.usedChallenges.use(challenge, NOW))
    same(results.toSorted(), [false, false, false, true])
  })

  test('a single sign-on account leads to one person', async () => {
    const [ada, grace] = [await addPerson(at.store), await addPerson(at.store)]
    const identity = newIdentity(ada.id)
    const insert = (personId: string) =>
      write((stores) => stores.identities.insert({ ...identity, person_id: personId }))
    assert.equal(await insert(ada.id), true)
    assert.equal(await insert(grace.id), false)
    same(await at.store.read.identities.find(identity.issuer, identity.subject), identity)
    assert.equal(await at.store.read.identities.find(identity.issuer, 'other'), undefined)
    same(await at.store.read.identities.list(ada.id), [identity])
  })
})
