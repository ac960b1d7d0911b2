import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { after, before, test } from 'node:test'
import { domains } from '../../src/domain/domains/domains.ts'
import { systemRandom } from '../../src/lib/random.ts'
import { addDomain, addWorkspace, unique } from '../storage/samples.ts'
import { startChallengeServers } from '../support/challenge-servers.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import {
  type OrderNode,
  type OrderNodeOptions,
  orderNode,
  SERVICE_HOST,
} from '../support/order-node.ts'
import { type Pebble, pebbleMissing, startPebble } from '../support/pebble.ts'
import { describeStore } from '../support/store.ts'

const missing = pebbleMissing()
const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

let dns: DnsServer
let pebble: Pebble
before(async () => {
  if (missing !== undefined) return
  dns = await startDnsServer(['*.http A 127.0.0.1', '*.away A 127.0.0.2', 'service A 127.0.0.1'])
  pebble = await startPebble({ dnsServer: dns.address })
})
after(async () => {
  await pebble?.stop()
  await dns?.stop()
})

describeStore('the orders of certificates', (at) => {
  const skip = missing

  test('go from an active domain to a certificate that its authority vouches for', {
    skip,
  }, async () => {
    const clock = fakeClock(Date.now())
    const node = orderNode({ store: at.store, clock, pebble })
    const servers = await startChallengeServers(node.answers, pebble)
    const workspace = await addWorkspace(at.store)
    const host = `${unique('go')}.http.test`
    await addDomain(at.store, workspace.id, { host, status: 'active' })
    await node.orders.reconcile([host])
    await node.runDue()
    assert.deepEqual(node.told, [`issued ${host}`])
    const certificate = await node.certificates.find(host)
    assert.ok(certificate)
    const leaf = new X509Certificate(certificate.chainPem)
    assert.equal(leaf.checkHost(host), host)
    await servers.stop()
  })
})
