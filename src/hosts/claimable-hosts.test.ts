import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { claimableHosts, registeredDomainsOf } from './claimable-hosts.ts'

const SERVICE = ['go.example.com']
const hostsFor = (isOperator: boolean) =>
  claimableHosts({ serviceNames: SERVICE, reserved: ['example.com'], isOperator })

describe('claimableHosts', () => {
  for (const host of [
    'wiki.internal',
    'a.b.internal',
    'printer.local',
    'abc.onion',
    'nas.home.arpa',
    'home.arpa',
    'nothing.invalid',
    'x.alt',
  ]) {
    test(`refuses ${host}, even for the operator`, () => {
      for (const isOperator of [false, true]) {
        assert.equal(hostsFor(isOperator).faultOf(host)?.code, 'special_use')
      }
    })
  }

  for (const host of ['go.acme.test', 'go.localhost', 'internal.example.net', 'mylocal.example']) {
    test(`accepts ${host}`, () => assert.equal(hostsFor(false).faultOf(host), undefined))
  }

  test('accepts names of the private network in which the service itself is reached', () => {
    const internal = claimableHosts({
      serviceNames: ['terse.corp.internal'],
      reserved: [],
      isOperator: false,
    })
    assert.equal(internal.faultOf('go.corp.internal'), undefined)
    assert.equal(internal.faultOf('go.local')?.code, 'special_use')
  })

  for (const host of ['example.com', 'www.example.com', 'a.b.example.com', 'x.go.example.com']) {
    test(`reserves ${host} for the operator`, () => {
      assert.equal(hostsFor(false).isReserved(host), true)
      assert.deepEqual(hostsFor(false).faultOf(host), { code: 'reserved', reason: 'domain' })
      assert.equal(hostsFor(true).faultOf(host), undefined)
    })
  }

  for (const host of ['example.net', 'notexample.com', 'example.com.example.net']) {
    test(`does not reserve ${host}`, () => assert.equal(hostsFor(false).isReserved(host), false))
  }
})

describe('registeredDomainsOf', () => {
  const cases: { names: string[]; domains: string[] }[] = [
    { names: ['go.example.com', 'edge.example.com'], domains: ['example.com'] },
    { names: ['go.example.co.uk', 'edge.example.net'], domains: ['example.co.uk', 'example.net'] },
    { names: ['terse.fly.dev'], domains: ['terse.fly.dev'] },
    { names: ['go.acme.test'], domains: ['acme.test'] },
    { names: ['localhost', 'terse.localhost', 'terse', '192.0.2.1', '[::1]'], domains: [] },
  ]
  for (const { names, domains } of cases) {
    test(`returns ${domains.join(', ') || 'no domain'} for ${names.join(' and ')}`, () =>
      assert.deepEqual(registeredDomainsOf(names), domains))
  }
})
