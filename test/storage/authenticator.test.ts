import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secretSealingOf } from '../../src/app/composition/instance.ts'
import type { FullStore } from '../../src/app/database/stores.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { type Authenticator, authenticator, Tokens } from '../../src/identity/tokens.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { eventually } from '../support/eventually.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { describeStore, type StoreUnderTest } from '../support/store.ts'
import { addWorkspace } from './samples.ts'

const SECOND = 1_000_000
const secretSealing = secretSealingOf(Buffer.alloc(32))

/** A node's authenticator over a store that counts look-ups and writes. */
function nodeOver({ store }: StoreUnderTest) {
  const clock: FakeClock = fakeClock()
  const counts = { lookUps: 0, writes: 0, refusedWrites: 0 }
  const errors: unknown[] = []
  const observed: FullStore = {
    ...store,
    read: Object.create(store.read, {
      tokens: {
        value: {
          ...store.read.tokens,
          findByHash(hash: string) {
            counts.lookUps += 1
            return store.read.tokens.findByHash(hash)
          },
        },
      },
    }),
    async write(work) {
      if (counts.refusedWrites > 0) {
        counts.refusedWrites -= 1
        throw new Error('the disk is full')
      }
      counts.writes += 1
      return store.write(work)
    },
  }
  const node: Authenticator = authenticator({
    store: observed,
    clock,
    onError: (error) => errors.push(error),
  })
  store.onChange((changes) => node.apply(changes))
  const service = new Tokens({ store, clock, random: systemRandom, secretSealing })
  return { clock, counts, errors, node, service }
}

const REFUSED = { name: 'Failure', code: 'unauthorized' }

describeStore('the authenticator', (at) => {
  async function given({ expiresInSeconds }: { expiresInSeconds?: number } = {}) {
    const all = nodeOver(at)
    const workspace = await addWorkspace(at.store)
    const expiresAt =
      expiresInSeconds === undefined ? null : all.clock.nowMicros() + expiresInSeconds * SECOND
    const options = { name: 'test', scopes: ['links:read'], expiresAt } as const
    const { token, secret } = await all.service.create(commandLine(workspace.id), options)
    const lastUse = async () =>
      (await all.service.list(workspace.id)).find(({ id }) => id === token.id)?.last_used_at
    return { ...all, token, secret, lastUse }
  }
  const refuses = (node: Authenticator, secret: string) =>
    assert.rejects(async () => node.authenticate(secret), REFUSED)

  test('looks a token up once and then uses its cache', async () => {
    const { node, secret, token, counts } = await given()
    for (let count = 0; count < 3; count += 1) {
      assert.equal((await node.authenticate(secret)).id, token.id)
    }
    assert.equal(counts.lookUps, 1)
  })

  test('refuses a cached token from the instant at which it expires', async () => {
    const { node, secret, clock } = await given({ expiresInSeconds: 10 })
    await node.authenticate(secret)
    clock.move(9.999_999)
    await node.authenticate(secret)
    clock.move(0.000_001)
    await refuses(node, secret)
  })

  test('refuses a cached token once this process has revoked it', async () => {
    const { node, secret, service, token } = await given()
    await node.authenticate(secret)
    await service.revokeAnywhere(commandLine, token.id)
    await refuses(node, secret)
  })

  test('refuses a cached token once it has read that another process revoked it', async () => {
    const { node, secret, token, clock } = await given()
    await node.authenticate(secret)
    const cursor = await at.store.read.changes.end()
    const other = (await at.another()).store
    await new Tokens({ store: other, clock, random: systemRandom, secretSealing }).revokeAnywhere(
      commandLine,
      token.id,
    )
    const { changes = [] } = await at.store.read.changes.since(cursor, 10)
    node.apply(changes)
    await refuses(node, secret)
  })

  test('records the use of a cached token once a minute', async () => {
    const { node, secret, clock, counts, lastUse } = await given()
    const first = clock.nowMicros()
    await node.authenticate(secret)
    await node.authenticate(secret)
    await eventually(async () => assert.equal(await lastUse(), first))
    clock.move(59)
    await node.authenticate(secret)
    assert.equal(counts.writes, 1)
    clock.move(1)
    await node.authenticate(secret)
    await eventually(async () => assert.equal(await lastUse(), first + 60 * SECOND))
    assert.equal(counts.writes, 2)
  })

  test('fails no request when recording a use fails, and records the next use', async () => {
    const { node, secret, clock, counts, errors, lastUse } = await given()
    counts.refusedWrites = 1
    await node.authenticate(secret)
    await eventually(async () => assert.equal(errors.length, 1))
    await node.authenticate(secret)
    await eventually(async () => assert.equal(await lastUse(), clock.nowMicros()))
  })
})
