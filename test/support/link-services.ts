import assert from 'node:assert/strict'
import { Domains } from '../../src/domains/domains.ts'
import { claimableHosts } from '../../src/hosts/claimable-hosts.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { LinkKeyspaces } from '../../src/links/link-keyspaces.ts'
import { SEARCH_QUEUE } from '../../src/links/link-query.ts'
import { LinkWriter } from '../../src/links/link-writer.ts'
import { Links } from '../../src/links/links.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { passwordVault } from '../../src/platform/passwords/password-vault.ts'
import { FairQueue } from '../../src/platform/work/fair-queue.ts'
import { addWorkspace, NOW } from '../storage/samples.ts'
import { directHasher } from './direct-hasher.ts'
import { noQuotas } from './no-quotas.ts'
import type { StoreUnderTest } from './store.ts'

/** The rules over a real store, with a clock that the test sets. */
export async function linkServices({ store }: StoreUnderTest) {
  const time = { now: NOW }
  const clock = { nowMicros: () => time.now }
  const keyspaceId = await store.write(
    async (stores) => (await stores.keyspaces.openShared('go.example')).id,
  )
  const serviceHost = { host: 'go.example', keyspaceId, ports: new Set([443]) }
  const quotas = noQuotas(store)
  const base = { store, clock, random: systemRandom, serviceHost, quotas }
  const domains = new Domains({
    ...base,
    claimable: claimableHosts({ serviceNames: [], reserved: [], isOperator: false }),
    proofPolicy: 'none',
    onDue: () => {},
    onError: assert.ifError,
  })
  const writer = new LinkWriter({
    ...base,
    keyspaces: new LinkKeyspaces({ ...base, domains, claimOnLink: true }),
    vault: passwordVault(Buffer.alloc(32), systemRandom, directHasher()),
    tryExamples: undefined,
    appSchemes: [],
    hasCities: false,
  })
  const links = new Links({ ...base, domains, writer, searches: new FairQueue(SEARCH_QUEUE) })
  const actor = commandLine((await addWorkspace(store)).id)
  return { ...base, time, links, domains, writer, actor }
}
