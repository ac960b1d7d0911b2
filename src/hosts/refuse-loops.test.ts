import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure } from '../platform/failure.ts'
import { refuseLoops } from './refuse-loops.ts'

const SERVICE = { host: 'go.example', ports: new Set([80, 443]) }
const ON = { workspaceId: 'mine', host: 'pending.example' }

/** The refused fields when `served.example` is an active domain, and the hosts looked up in the store. */
async function refused(destinations: Record<string, string | null | undefined>) {
  const lookups: (readonly string[])[] = []
  const domains = {
    async servedAmong(workspaceId: string, hosts: readonly string[]) {
      assert.equal(workspaceId, ON.workspaceId)
      lookups.push(hosts)
      return hosts.filter((host) => host === 'served.example')
    },
  }
  try {
    await refuseLoops({ domains }, SERVICE, ON, destinations)
    return { lookups, fields: {} }
  } catch (error) {
    assert.ok(error instanceof Failure)
    return { lookups, fields: error.fields }
  }
}

describe('refuseLoops', () => {
  test('refuses each field that leads back to the service, even if the host is not active yet', async () => {
    const { fields } = await refused({
      url: 'https://served.example/a',
      ios: 'https://pending.example/',
      android: 'https://go.example/key',
      other: 'https://example.com/',
    })
    const leadsTo = (host: string) => [`must not lead to ${host}, which is served here`]
    assert.deepEqual(fields, {
      url: leadsTo('served.example'),
      ios: leadsTo('pending.example'),
      android: leadsTo('go.example'),
    })
  })

  test('reads the store once, and only for hosts on a port that this service answers', async () => {
    const { lookups, fields } = await refused({
      url: 'https://example.com/',
      ios: 'myapp://served.example/',
      android: 'https://example.org/',
      away: 'https://served.example:8443/',
      none: null,
      unset: undefined,
    })
    assert.deepEqual(fields, {})
    assert.deepEqual(lookups, [['example.com', 'example.org']])
    assert.deepEqual((await refused({ url: null })).lookups, [])
  })
})
