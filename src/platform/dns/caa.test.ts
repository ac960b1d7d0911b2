import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeDns } from '../../../test/support/fake-dns.ts'
import { findCaaPermission } from './caa.ts'
import type { CaaProperty } from './dns-resolver.ts'

const HOST = 'go.acme.test'
const CA = 'ca.example'
const issue = (value: string): CaaProperty => ({ tag: 'issue', value, isCritical: false })

const CASES: { name: string; at: string; properties: CaaProperty[]; allowed: boolean }[] = [
  { name: 'our authority', at: HOST, properties: [issue(CA)], allowed: true },
  {
    name: 'our authority in capitals, with parameters',
    at: HOST,
    properties: [issue(' CA.Example ; account=1')],
    allowed: true,
  },
  {
    name: 'our authority among others',
    at: HOST,
    properties: [issue('x.example'), issue(CA)],
    allowed: true,
  },
  { name: 'another authority', at: HOST, properties: [issue('x.example')], allowed: false },
  { name: 'no authority', at: HOST, properties: [issue(';')], allowed: false },
  {
    name: 'another authority for the whole zone',
    at: 'acme.test',
    properties: [issue('x.example')],
    allowed: false,
  },
  {
    name: 'an authority only for wildcards',
    at: HOST,
    properties: [{ tag: 'issuewild', value: 'x.example', isCritical: false }],
    allowed: true,
  },
  {
    name: 'an unknown critical property',
    at: HOST,
    properties: [issue(CA), { tag: 'tbs', value: 'x', isCritical: true }],
    allowed: false,
  },
]
for (const { name, at, properties, allowed } of CASES) {
  test(`CAA that names ${name} ${allowed ? 'allows' : 'forbids'} a certificate`, async () => {
    const dns = fakeDns()
    dns.setCaa(at, ...properties)
    const permission = await findCaaPermission(dns, HOST, [CA])
    assert.equal(permission.state, allowed ? 'allowed' : 'forbidden')
    if (permission.state === 'forbidden') assert.equal(permission.at, at)
  })
}

test('findCaaPermission uses the nearest CAA record set, and no record set allows every authority', async () => {
  const dns = fakeDns()
  assert.deepEqual(await findCaaPermission(dns, HOST, [CA]), { state: 'allowed' })
  dns.setCaa('test', issue('x.example'))
  dns.setCaa('acme.test', issue(CA))
  assert.deepEqual(await findCaaPermission(dns, HOST, [CA]), { state: 'allowed' })
})

test('findCaaPermission returns unknown when DNS fails', async () => {
  const dns = fakeDns()
  dns.silence = { kind: 'unknown', reason: 'server_failure' }
  assert.deepEqual(await findCaaPermission(dns, HOST, [CA]), {
    state: 'unknown',
    reason: 'server_failure',
  })
})
