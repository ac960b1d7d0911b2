import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { destinationOf, visitAddress } from './links.ts'

describe('destinationOf', () => {
  const CASES: readonly (readonly [typed: string, destination: string | undefined])[] = [
    ['https://example.com/a?b=c', 'https://example.com/a?b=c'],
    ['  example.com/a ', 'https://example.com/a'],
    ['example.com:8080/a', 'https://example.com:8080/a'],
    ['http://localhost:3000/', 'http://localhost:3000/'],
    ['localhost', undefined],
    ['javascript:alert(1)', undefined],
    ['mailto:a@example.com', 'mailto:a@example.com'],
    ['tel:+49301234', 'tel:+49301234'],
    ['ftp://example.com/', undefined],
    ['two words', undefined],
    ['', undefined],
  ]
  for (const [typed, destination] of CASES) {
    test(`returns ${destination} for "${typed}"`, () => {
      assert.equal(destinationOf(typed), destination)
    })
  }
})

const LOCAL = { protocol: 'http:', hostname: '127.0.0.1', port: '3000' }

describe('visitAddress', () => {
  for (const { domain, at, address } of [
    { domain: 'localhost', at: LOCAL, address: 'http://localhost:3000/spring' },
    { domain: 'go.localhost', at: LOCAL, address: 'http://go.localhost:3000/spring' },
    { domain: 'go.example', at: LOCAL, address: 'https://go.example/spring' },
    {
      domain: 'links.lan',
      at: { protocol: 'http:', hostname: 'links.lan', port: '' },
      address: 'http://links.lan/spring',
    },
    {
      domain: 'go.example',
      at: { protocol: 'https:', hostname: 'go.example', port: '' },
      address: 'https://go.example/spring',
    },
    {
      domain: 'go.example',
      at: { protocol: 'https:', hostname: 'go.example', port: '8443' },
      address: 'https://go.example:8443/spring',
    },
    {
      domain: 'other.example',
      at: { protocol: 'https:', hostname: 'go.example', port: '8443' },
      address: 'https://other.example/spring',
    },
  ]) {
    test(`is ${address} from ${at.protocol}//${at.hostname}:${at.port}`, () => {
      assert.equal(visitAddress({ domain, link: `https://${domain}/spring` }, at), address)
    })
  }
})
