import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertClaim } from '../../src/domains/claim.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { newDomain, unique } from '../storage/samples.ts'
import { expectStatus } from '../support/api.ts'
import { startDnsResponder } from '../support/dns-responder.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { formSetting } from '../support/long-form.ts'
import { startService } from '../support/service.ts'

/** Claims of one workspace on names that do not answer. */
const CLAIMS = formSetting('SILENT_CLAIMS')
/**
 * Without fair turns, 16 checks at a time take 6 seconds each: 45 seconds for 120 claims, eleven
 * minutes for 1,800.
 */
const ACTIVE_MS_MAX = 30_000
const TARGET = 'go.terse.test'
const ADDRESS = '192.0.2.10'

test(`a domain becomes active while ${CLAIMS} names of another workspace do not answer`, async (t) => {
  const dns = await startDnsResponder(({ name, type }) => {
    if (name.includes('silent')) return 'silence'
    const answers = type === 'A' ? [{ type: 'A' as const, name, ttl: 60, data: ADDRESS }] : []
    return { answers }
  })
  t.after(() => dns.stop())
  const service = await startService(SQLITE, {
    TERSE_DNS_SERVERS: dns.address,
    TERSE_BASE_URL: `https://${TARGET}`,
    TERSE_DOMAIN_PROOF: 'routing',
  })
  t.after(() => service.stop())
  const { id: workspaceId } = await service.instance.workspaces.ensure(commandLine, 'hostile')
  const created_at = service.instance.clock.nowMicros()
  await service.instance.store.write(async (stores) => {
    for (let count = 0; count < CLAIMS; count += 1) {
      const host = `${unique('silent')}.acme.test`
      await insertClaim(
        stores,
        commandLine(workspaceId),
        newDomain(workspaceId, { host, created_at }),
      )
    }
  })
  await eventually(async () => assert.ok(dns.asked.some(({ name }) => name.includes('silent'))))

  const api = await service.api('globex')
  const begunMs = performance.now()
  const { id } = expectStatus(await api.post('/domains', { domain: 'links.globex.test' }), 201).body
  await eventually(async () => {
    const { status } = expectStatus(await api.get(`/domains/${id}`), 200).body
    assert.equal(status, 'active')
  }, ACTIVE_MS_MAX)
  t.diagnostic(`active after ${Math.round(performance.now() - begunMs)} ms`)
})
