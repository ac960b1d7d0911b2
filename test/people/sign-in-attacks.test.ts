import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { personActor } from '../../src/identity/actor.ts'
import { PeoplePasswords } from '../../src/identity/people/passwords.ts'
import type { SecondFactors } from '../../src/identity/second-factors/second-factors.ts'
import { Sessions } from '../../src/identity/sign-in/sessions.ts'
import { SignIn, SignInLimits } from '../../src/identity/sign-in/sign-in.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { Throttles } from '../../src/platform/limits/throttle.ts'
import { HASH_QUEUE, PasswordHasher } from '../../src/platform/passwords/password-hasher.ts'
import { passwordVault } from '../../src/platform/passwords/password-vault.ts'
import { FairQueue } from '../../src/platform/work/fair-queue.ts'
import { addPerson, NOW, newPerson } from '../storage/samples.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { describeStore } from '../support/store.ts'

const PASSWORD = 'correct horse battery staple'

/** The second factors of people who have set up none. */
const secondFactors: SecondFactors = {
  required: async () => [],
  verify: async () => undefined,
  verifyPasskey: async () => undefined,
}

describeStore('attacks on sign-in', (at) => {
  /** A sign-in that counts hashes and queries: what can be measured from outside. */
  async function given() {
    const clock = fakeClock()
    const counts = { hashes: 0, reads: 0, writes: 0 }
    /** What others do while a password is being hashed. */
    const meanwhile = { run: async () => {} }
    const hasher = new PasswordHasher({
      queue: new FairQueue(HASH_QUEUE),
      async compute(task) {
        counts.hashes += 1
        await meanwhile.run()
        return hash('sha256', `${task.text} ${task.salt}`, 'buffer')
      },
    })
    const counted = <T extends object>(stores: T): T =>
      new Proxy(stores, {
        get(target, name) {
          counts.reads += 1
          return Reflect.get(target, name)
        },
      })
    const store = {
      ...at.store,
      read: counted(at.store.read),
      write: (work: Parameters<typeof at.store.write>[0]) => {
        counts.writes += 1
        return at.store.write(work)
      },
    } as typeof at.store
    const vault = passwordVault(Buffer.alloc(32, 1), systemRandom, hasher)
    const passwords = new PeoplePasswords({ vault, secondFactors })
    const sessions = new Sessions({ store, clock, random: systemRandom })
    const limits = new SignInLimits(new Throttles({ clock, peers: undefined }))
    const signIn = new SignIn({ store, clock, passwords, secondFactors, sessions, limits })
    const person = await addPerson(at.store)
    const disabled = await addPerson(at.store, { disabled_at: NOW })
    for (const each of [person, disabled]) {
      const prepared = await passwords.prepare(each, PASSWORD)
      const password = { ...prepared, changed_at: NOW }
      await at.store.write((stores) => stores.passwords.set(each.id, password))
    }
    const withoutPassword = await addPerson(at.store)
    const attempt = async (email: string, password: string, address = '192.0.2.1') => {
      const before = { ...counts }
      const origin = { address, device: 'test', cookie: undefined, requestId: 'test' }
      const outcome = await signIn.signIn({ email, password }, origin).then(
        () => 'signed in',
        ({ code, message, fields }) => ({ code, message, fields }),
      )
      const cost = {
        hashes: counts.hashes - before.hashes,
        reads: counts.reads - before.reads,
        writes: counts.writes - before.writes,
      }
      return { outcome, cost }
    }
    return { clock, person, disabled, withoutPassword, attempt, meanwhile, passwords }
  }

  test('cannot tell people who exist from others, by the answer or by the work', async () => {
    const { person, disabled, withoutPassword, attempt } = await given()
    const unknown = await attempt(newPerson().email, PASSWORD)
    assert.equal(unknown.cost.hashes, 1)
    const others = [
      await attempt(person.email, 'a wrong password'),
      await attempt(disabled.email, PASSWORD),
      await attempt(disabled.email, 'a wrong password'),
      await attempt(withoutPassword.email, PASSWORD),
    ]
    for (const other of others) assert.deepEqual(other, unknown)
    assert.equal((await attempt(person.email, PASSWORD)).outcome, 'signed in')
  })

  test('are refused without a hash after ten failures, whether the person exists or not', async () => {
    const { clock, person, attempt } = await given()
    for (const email of [person.email, newPerson().email]) {
      for (let count = 0; count < 10; count += 1) await attempt(email, 'a wrong password')
      const { outcome, cost } = await attempt(email, PASSWORD)
      assert.equal(typeof outcome === 'object' && outcome.code, 'too_many_attempts')
      assert.deepEqual(cost, { hashes: 0, reads: 0, writes: 0 })
    }
    assert.equal((await attempt(person.email, PASSWORD, '192.0.2.2')).outcome, 'signed in')
    clock.move(15 * 60)
    assert.equal((await attempt(person.email, PASSWORD)).outcome, 'signed in')
  })

  /** Runs once, during the next hash. */
  function during(meanwhile: { run(): Promise<void> }, work: () => Promise<void>): void {
    meanwhile.run = async () => {
      meanwhile.run = async () => {}
      await work()
    }
  }
  const codeIn = (outcome: string | { readonly code: string }) =>
    typeof outcome === 'object' ? outcome.code : outcome

  test('leave no session where the password changes while it is compared', async () => {
    const { person, attempt, meanwhile, passwords } = await given()
    const author = personActor(person, undefined, true)
    const password = await passwords.prepare(person, 'another horse battery staple')
    during(meanwhile, () =>
      at.store.write(async (stores) => {
        await stores.people.lock(person.id)
        const change = { password, keptSessionId: undefined, now: NOW }
        await passwords.set(stores, author, person.id, change)
      }),
    )
    assert.equal(codeIn((await attempt(person.email, PASSWORD)).outcome), 'unauthorized')
    assert.deepEqual(await at.store.read.sessions.listOfPerson(person.id), [])
  })

  test('leave no session where the person is disabled, or gets a second factor, meanwhile', async () => {
    const { person, attempt, meanwhile } = await given()
    const confirmed = { sealedSecret: 'sealed', step: 1, atMicros: NOW }
    during(meanwhile, () =>
      at.store.write(async (stores) => {
        await stores.totp.setPending(person.id, 'sealed')
        await stores.totp.confirm(person.id, confirmed)
      }),
    )
    const { outcome } = await attempt(person.email, PASSWORD)
    assert.equal(codeIn(outcome), 'second_factor_required')
    during(meanwhile, () =>
      at.store.write((stores) => stores.people.update(person.id, { disabled_at: NOW })),
    )
    assert.equal(codeIn((await attempt(person.email, PASSWORD)).outcome), 'unauthorized')
    assert.deepEqual(await at.store.read.sessions.listOfPerson(person.id), [])
  })

  test('are bounded for one address at many accounts, and for many addresses at one account', async () => {
    const { attempt } = await given()
    const codeOf = async (email: string, address: string) => {
      const { outcome } = await attempt(email, 'a wrong password', address)
      return typeof outcome === 'object' ? outcome.code : outcome
    }
    const ofAddress: string[] = []
    for (let count = 0; count < 51; count += 1) {
      ofAddress.push(await codeOf(`${count}@example.com`, '192.0.2.3'))
    }
    assert.deepEqual(new Set(ofAddress.slice(0, 50)), new Set(['unauthorized']))
    assert.equal(ofAddress[50], 'too_many_attempts')
    const ofAccount: string[] = []
    for (let count = 0; count < 41; count += 1) {
      ofAccount.push(await codeOf('one@example.com', `198.51.100.${count}`))
    }
    assert.deepEqual(new Set(ofAccount.slice(0, 40)), new Set(['unauthorized']))
    assert.equal(ofAccount[40], 'too_many_attempts')
  })

  test('do not use up the attempts of a person who gets it right', async () => {
    const { person, attempt } = await given()
    for (let count = 0; count < 60; count += 1) {
      assert.equal((await attempt(person.email, PASSWORD)).outcome, 'signed in')
    }
  })
})
