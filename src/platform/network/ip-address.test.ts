import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../../test/support/properties.ts'
import {
  clientAddress,
  isIpAddress,
  isPrivateAddress,
  Networks,
  subscriberOf,
} from './ip-address.ts'

function networks(...cidrs: string[]): Networks {
  const list = new Networks()
  for (const cidr of cidrs) assert.ok(list.add(cidr), cidr)
  return list
}

describe('isIpAddress', () => {
  for (const text of ['127.0.0.1', '::1', '2001:db8::1', '::ffff:10.0.0.1']) {
    test(`accepts ${text}`, () => assert.ok(isIpAddress(text)))
  }
  for (const text of ['', 'localhost', '[::1]', '1.2.3', '1.2.3.4:80', '256.0.0.1', '01.2.3.4']) {
    test(`refuses "${text}"`, () => assert.ok(!isIpAddress(text)))
  }
})

describe('Networks', () => {
  const networkCases = [
    {
      cidr: '10.0.0.0/8',
      has: ['10.0.0.0', '10.255.255.255'],
      lacks: ['11.0.0.0', '9.255.255.255'],
    },
    { cidr: '192.0.2.7', has: ['192.0.2.7'], lacks: ['192.0.2.8'] },
    { cidr: '10.0.0.0/8', has: ['::ffff:10.1.2.3'], lacks: ['::ffff:11.1.2.3'] },
    {
      cidr: '10.0.0.0/8',
      has: ['::FFFF:10.1.2.3', '::ffff:a01:203', '0:0:0:0:0:FFFF:0A01:0203'],
      lacks: ['::ffff:b01:203', '::a01:203', '64:ff9b::a01:203'],
    },
    { cidr: '127.0.0.0/8', has: ['::ffff:7f00:1'], lacks: ['64:ff9b::7f00:1', '::7f00:1'] },
    {
      cidr: '203.0.113.0/24',
      has: ['64:ff9b::203.0.113.5', '64:FF9B:0::cb00:7105', '0064:ff9b:0:0:0:0:cb00:7105'],
      lacks: ['64:ff9b:1::cb00:7105', '65:ff9b::cb00:7105'],
    },
    { cidr: '0.0.0.0/0', has: ['8.8.8.8'], lacks: ['2001:db8::1'] },
    { cidr: '2001:db8::/32', has: ['2001:db8:ffff::1'], lacks: ['2001:db9::1', '10.0.0.1'] },
    { cidr: '::1', has: ['::1', '0:0:0:0:0:0:0:1'], lacks: ['::2'] },
  ]
  for (const { cidr, has, lacks } of networkCases) {
    test(`${cidr} contains ${has} and not ${lacks}`, () => {
      const list = networks(cidr)
      for (const address of has) assert.ok(list.has(address), address)
      for (const address of lacks) assert.ok(!list.has(address), address)
    })
  }

  test('is empty at first, and never contains a text that is not an address', () => {
    assert.ok(!new Networks().has('127.0.0.1'))
    assert.ok(!networks('0.0.0.0/0').has('localhost'))
    assert.ok(!networks('0.0.0.0/0').has(''))
  })

  const refused = [
    '',
    'localhost',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '10.0.0.0/1e1',
    '10.0.0/8',
  ]
  for (const cidr of refused) {
    test(`refuses "${cidr}"`, () => assert.equal(new Networks().add(cidr), false))
  }
})

describe('isPrivateAddress', () => {
  for (const address of [
    ...['10.1.2.3', '127.0.0.1', '172.31.0.1', '192.168.1.1', '169.254.1.1', '100.64.0.1'],
    ...['198.18.0.1', '224.0.0.1', '255.255.255.255', '::', '::1', 'fd00::1', 'fe80::1', 'ff02::1'],
    ...['::ffff:10.1.2.3', '64:ff9b::10.1.2.3', '64:ff9b::7f00:1', '64:ff9b:1::1'],
  ]) {
    test(`is true for ${address}`, () => assert.ok(isPrivateAddress(address)))
  }
  for (const address of ['9.9.9.9', '172.32.0.1', '2606:4700::1', '64:ff9b::9.9.9.9', '', 'a.b']) {
    test(`is false for "${address}"`, () => assert.ok(!isPrivateAddress(address)))
  }
})

describe('clientAddress', () => {
  const trusted = networks('10.0.0.0/8', '::1')
  const networkCases = [
    { socket: '203.0.113.5', header: undefined, client: '203.0.113.5', why: 'there is no header' },
    {
      socket: '::ffff:203.0.113.5',
      header: undefined,
      client: '203.0.113.5',
      why: 'an IPv4-mapped address is the same address',
    },
    {
      socket: '203.0.113.5',
      header: '1.1.1.1',
      client: '203.0.113.5',
      why: 'the socket is not a trusted proxy',
    },
    { socket: '10.0.0.1', header: undefined, client: '10.0.0.1', why: 'the proxy sends no header' },
    {
      socket: '10.0.0.1',
      header: '1.1.1.1',
      client: '1.1.1.1',
      why: 'the trusted proxy reports it',
    },
    { socket: '::1', header: '1.1.1.1', client: '1.1.1.1', why: 'a trusted IPv6 proxy reports it' },
    {
      socket: '::ffff:10.0.0.1',
      header: '1.1.1.1',
      client: '1.1.1.1',
      why: 'a trusted proxy may be written as IPv4-mapped',
    },
    {
      socket: '10.0.0.1',
      header: '::ffff:1.1.1.1',
      client: '1.1.1.1',
      why: 'a client may be written as IPv4-mapped',
    },
    {
      socket: '::FFFF:cb00:7105',
      header: undefined,
      client: '203.0.113.5',
      why: 'hexadecimal groups and capitals denote the same address',
    },
    {
      socket: '::ffff:a00:1',
      header: '[::FFFF:101:101]:5678',
      client: '1.1.1.1',
      why: 'other notations are accepted for proxies and clients too',
    },
    {
      socket: '64:ff9b::cb00:7105',
      header: undefined,
      client: '203.0.113.5',
      why: 'NAT64 embeds the client’s address',
    },
    {
      socket: '64:ff9b::a00:1',
      header: '1.1.1.1',
      client: '64:ff9b::a00:1',
      why: 'a NAT64 address with a private address in it is not unwrapped',
    },
    {
      socket: '10.0.0.1',
      header: '1.1.1.1:5678',
      client: '1.1.1.1',
      why: 'some proxies append the port',
    },
    {
      socket: '10.0.0.1',
      header: '[2001:db8::1]:5678',
      client: '2001:db8::1',
      why: 'some proxies append the port to IPv6 addresses',
    },
    {
      socket: '10.0.0.1',
      header: '6.6.6.6, 1.1.1.1',
      client: '1.1.1.1',
      why: 'earlier entries may be forged',
    },
    {
      socket: '10.0.0.1',
      header: '6.6.6.6,1.1.1.1 , 10.0.0.2',
      client: '1.1.1.1',
      why: 'trusted proxies are skipped',
    },
    {
      socket: '10.0.0.1',
      header: '10.0.0.3, 10.0.0.2',
      client: '10.0.0.3',
      why: 'every entry is a trusted proxy',
    },
    {
      socket: '10.0.0.1',
      header: '1.1.1.1, unknown',
      client: '10.0.0.1',
      why: 'an invalid entry ends the chain',
    },
    {
      socket: '10.0.0.1',
      header: '6.6.6.6, <b>, 10.0.0.2',
      client: '10.0.0.2',
      why: 'an invalid entry ends the chain',
    },
    { socket: '10.0.0.1', header: '', client: '10.0.0.1', why: 'the header is empty' },
  ]
  for (const { socket, header, client, why } of networkCases) {
    test(`returns ${client} for socket ${socket} and header ${header}: ${why}`, () => {
      assert.equal(clientAddress(socket, header, trusted), client)
    })
  }

  test('cannot be forged by what a client sends before the proxy appends the client’s address', () => {
    fc.assert(
      fc.property(fc.string(), fc.ipV4(), (forged, address) => {
        fc.pre(!trusted.has(address))
        assert.equal(clientAddress('10.0.0.1', `${forged},${address}`, trusted), address)
      }),
      cases(300),
    )
  })
})

describe('subscriberOf', () => {
  const networkCases: [string, string][] = [
    ['203.0.113.5', '203.0.113.5'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['::ffff:203.0.113.5', '203.0.113.5'],
    ['::FFFF:CB00:7105', '203.0.113.5'],
    ['0:0:0:0:0:ffff:cb00:7105', '203.0.113.5'],
    ['64:ff9b::203.0.113.5', '203.0.113.5'],
    ['64:FF9B::CB00:7105', '203.0.113.5'],
    ['::ffff:0:1', '0.0.0.1'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ]
  for (const [address, subscriber] of networkCases) {
    test(`returns ${subscriber} for ${address}`, () =>
      assert.equal(subscriberOf(address), subscriber))
  }

  test('is the same for all addresses of a /64 network, and differs between networks', () => {
    const group = fc.integer({ min: 1, max: 0xffff }).map((value) => value.toString(16))
    const half = fc.tuple(group, group, group, group).map((groups) => groups.join(':'))
    fc.assert(
      fc.property(half, half, half, half, (network, other, a, b) => {
        assert.equal(subscriberOf(`${network}:${a}`), subscriberOf(`${network}:${b}`))
        fc.pre(network !== other)
        assert.notEqual(subscriberOf(`${network}:${a}`), subscriberOf(`${other}:${a}`))
      }),
      cases(200),
    )
  })
})
