import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { importDomains } from './import-candidate.ts'

describe('importDomains', () => {
  const domains = {
    'Old.Example.': 'go.example',
    'bücher.example': 'b.example',
    'bit.ly': 'x.example',
  }
  const hostOf = importDomains({ domains }, 'own.example')

  for (const [from, to] of [
    ['old.example', 'go.example'],
    ['xn--bcher-kva.example', 'b.example'],
    ['BÜCHER.example', 'b.example'],
    ['bit.ly', 'x.example'],
    ['other.example', 'other.example'],
    [null, 'own.example'],
  ] as const) {
    test(`sends links of ${from} to ${to}`, () => assert.equal(hostOf(from), to))
  }

  test('asks for a domain where several may be meant', () => {
    assert.throws(() => importDomains({ domains: {} }, undefined)(null), {
      message: /--domain =HOST/,
    })
    assert.equal(importDomains({ domains: { '': 'a.example' } }, undefined)(null), 'a.example')
  })

  test('asks for a domain in place of one that a service shares', () => {
    assert.throws(() => hostOf('j.mp'), { name: 'ImportFault', message: /belongs to Bitly/ })
  })
})
