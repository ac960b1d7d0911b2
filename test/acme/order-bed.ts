import assert from 'node:assert/strict'
import { after, before, type TestContext } from 'node:test'
import type { FullStore } from '../../src/app/database/stores.ts'
import { addDomain, addWorkspace, unique } from '../storage/samples.ts'
import { startChallengeServers } from '../support/challenge-servers.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { type OrderNodeOptions, orderNode } from '../support/order-node.ts'
import { type Pebble, type PebbleOptions, startPebble } from '../support/pebble.ts'
import { skipWithout } from '../support/programs.ts'
import { describeStore, type StoreUnderTest } from '../support/store.ts'

/**
 * What the tests of certificate orders share: an authority, DNS and challenge servers for a file, a node for a test.
 */

export const MINUTE = 60
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const SECOND_MICROS = 1_000_000

export const skip = skipWithout('pebble', 'knotd')
let dns: DnsServer
/** Set before the tests of a file start. */
export let pebble: Pebble
before(async () => {
  if (skip) return
  dns = await startDnsServer(['* A 127.0.0.1', '*.away A 127.0.0.2'])
  pebble = await startPebble({ dnsServer: dns.address, validitySeconds: 6 * DAY })
})
/** An authority for one test, with the challenge servers of the shared one. */
export async function startOther(t: TestContext, options: Partial<PebbleOptions>): Promise<Pebble> {
  const { httpPort, tlsPort } = pebble
  const other = await startPebble({ dnsServer: dns.address, httpPort, tlsPort, ...options })
  t.after(() => other.stop())
  return other
}

after(async () => {
  await pebble?.stop()
  await dns?.stop()
})

/** A workspace with a node, a real authority, and servers that answer its challenges. */
export async function setUp(at: StoreUnderTest, options: Partial<OrderNodeOptions> = {}) {
  await forgetAll(at)
  const clock = fakeClock(Date.now())
  const base = { store: at.store, clock, pebble, ...options }
  const node = (others: Partial<OrderNodeOptions> = {}) => orderNode({ ...base, ...others })
  const first = node()
  const workspace = await addWorkspace(at.store)
  const name = unique('d')
  const host = `go.${name}.test`
  const activate = async (...hosts: string[]) => {
    for (const each of hosts) {
      await addDomain(at.store, workspace.id, { host: each, status: 'active' })
    }
    await first.orders.reconcile(hosts)
  }
  return { ...first, clock, node, workspace, name, host, activate }
}

/** Removes pending work of the previous test. */
async function forgetAll({ db, store }: StoreUnderTest): Promise<void> {
  const orders = await db.selectFrom('certificate_orders').select('host').execute()
  const domains = await db.selectFrom('domains').select(['id', 'workspace_id']).execute()
  await store.write(async (stores) => {
    for (const { host } of orders) await stores.certificateOrders.remove(host)
    for (const { id, workspace_id } of domains) await stores.domains.delete(workspace_id, id)
    await stores.acmeAccounts.resume(pebble.directory)
    await stores.acmeBudgets.trim(Number.MAX_SAFE_INTEGER)
  })
}

export async function eventsOf(store: FullStore, workspaceId: string) {
  return (await store.read.events.run({ workspaceId, limit: 10, beyond: undefined })).items
}

export async function stateOf(store: FullStore, host: string) {
  const order = await store.read.certificateOrders.find(host)
  assert.ok(order, `${host} has no order`)
  return order
}

/** Runs tests on each engine, with servers that answer the challenges of the authority. */
export function describeOrders(name: string, define: (at: StoreUnderTest) => void): void {
  describeStore(name, (at) => {
    let stopServers = async () => {}
    before(async () => {
      if (skip) return
      const { answers } = orderNode({ store: at.store, clock: fakeClock(Date.now()), pebble })
      stopServers = (await startChallengeServers(answers, pebble)).stop
    })
    after(() => stopServers())
    define(at)
  })
}
