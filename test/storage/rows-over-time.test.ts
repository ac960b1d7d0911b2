import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Domains } from '../../src/domains/domains.ts'
import { claimableHosts } from '../../src/hosts/claimable-hosts.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { LinkKeyspaces } from '../../src/links/link-keyspaces.ts'
import { SEARCH_QUEUE } from '../../src/links/link-search.ts'
import { Links } from '../../src/links/links.ts'
import type { Change } from '../../src/platform/changes/change.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { passwordVault } from '../../src/platform/passwords/password-vault.ts'
import { FairQueue } from '../../src/platform/work/fair-queue.ts'
import { directHasher } from '../support/direct-hasher.ts'
import { noQuotas } from '../support/no-quotas.ts'
import { describeStore, type StoreUnderTest } from '../support/store.ts'
import { addWorkspace, NOW, unique } from './samples.ts'

/** The rules over a real store, with a clock that the test sets. */
async function services({ store }: StoreUnderTest) {
  const time = { now: NOW }
  const clock = { nowMicros: () => time.now }
  const keyspaceId = await store.write(
    async (stores) => (await stores.keyspaces.openShared('go.example')).id,
  )
  const serviceHost = { host: 'go.example', keyspaceId, ports: new Set([443]) }
  const base = { store, clock, random: systemRandom, serviceHost, quotas: noQuotas(store) }
  const domainService = new Domains({
    ...base,
    claimable: claimableHosts({ serviceNames: [], reserved: [], isOperator: false }),
    proofPolicy: 'none',
    onDue: () => {},
    onError: assert.ifError,
  })
  const linkService = new Links({
    ...base,
    domains: domainService,
    keyspaces: new LinkKeyspaces({ ...base, domains: domainService, claimOnLink: true }),
    vault: passwordVault(Buffer.alloc(32), systemRandom, directHasher()),
    appSchemes: [],
    searches: new FairQueue(SEARCH_QUEUE),
  })
  const workspace = await addWorkspace(store)
  return { time, links: linkService, domains: domainService, actor: commandLine(workspace.id) }
}

/** The clock at each step after the first, and the instant that the row must have then. */
const STEPS = [
  { clock: NOW + 1, updatedAt: NOW + 1 },
  { clock: NOW + 1, updatedAt: NOW + 2 },
  { clock: NOW - 3_600_000_000, updatedAt: NOW + 3 },
  { clock: NOW + 3, updatedAt: NOW + 4 },
  { clock: NOW + 1_000_001, updatedAt: NOW + 1_000_001 },
]

describeStore('the times of a row', (at) => {
  test('keep their microseconds and only increase when a link is updated, whatever the clock does', async () => {
    const { time, links, actor } = await services(at)
    const input = { domain: 'go.example', key: unique('key'), url: 'https://example.com/' }
    const { id } = await links.create(actor, input)
    for (const { clock, updatedAt } of STEPS) {
      time.now = clock
      await links.update(actor, id, { url: `https://example.com/${updatedAt}` })
      const link = await links.get(actor, id)
      assert.equal(link.created_at, NOW)
      assert.equal(link.updated_at, updatedAt)
    }
  })

  test('keep their microseconds and only increase when a domain is updated, whatever the clock does', async () => {
    const { time, domains, actor } = await services(at)
    const { id } = await domains.create(actor, { domain: `${unique('host')}.example.com` })
    // It was proved at once, which is its first update.
    assert.equal((await domains.get(actor, id)).updated_at, NOW + 1)
    for (const { clock, updatedAt } of STEPS) {
      time.now = clock + 1
      await domains.update(actor, id, { expired_url: `https://example.org/${updatedAt}` })
      const domain = await domains.get(actor, id)
      assert.equal(domain.created_at, NOW)
      assert.equal(domain.updated_at, updatedAt + 1)
    }
  })
})

describeStore('the changes that a deletion appends', (at) => {
  test('contain the current host of a deleted domain, though it was renamed a moment before', async () => {
    const { domains, actor } = await services(at)
    const [before, renamed] = [`${unique('a')}.example.com`, `${unique('b')}.example.com`]
    const { id } = await domains.create(actor, { domain: before })
    const notified: Change[][] = []
    at.store.onChange((changes) => notified.push([...changes]))
    // Both have read the domain before either writes.
    const [updated] = await Promise.allSettled([
      domains.update(actor, id, { domain: renamed }),
      domains.delete(actor, id),
    ])
    const last = notified.at(-1)?.map(({ subject }) => subject)
    const host = updated.status === 'fulfilled' ? renamed : before
    assert.ok(last?.includes(host), `the last transaction notified of ${last}, not of ${host}`)
  })
})
