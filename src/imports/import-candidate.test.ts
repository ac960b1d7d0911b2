import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LinkInput } from '../links/index.ts'
import type { FieldFaults } from '../platform/failure.ts'
import { importDomains, usableRules } from './import-candidate.ts'

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

const NO_FAULTS: FieldFaults = {}

describe('usableRules', () => {
  const rule = (id: string) => ({ id, when: {}, then: { url: `https://${id}.example/` } })
  /** Refuses the first of some rules alone, as a fault in the form of one hides what else is wrong. */
  const faultsOf = ({ rules }: LinkInput) => {
    const at = rules?.findIndex(({ id }) => id?.startsWith('bad')) ?? -1
    return at === -1 ? NO_FAULTS : { [`rules.${at}.then.url`]: [{ code: 'invalid_url' as const }] }
  }

  test('leaves out each rule that is refused, and keeps the order of the others', () => {
    const rules = ['bad-1', 'one', 'bad-2', 'two'].map(rule)
    const found = usableRules({ rules }, faultsOf)
    assert.deepEqual(
      [found.rules?.map(({ id }) => id), found.left.map(({ id }) => id), found.notes],
      [
        ['one', 'two'],
        ['bad-1', 'bad-2'],
        ['bad-1', 'bad-2'].map(
          (id) =>
            `The rule to "https://${id}.example/" was left out: then.url must be an absolute URL such as https://example.com/page.`,
        ),
      ],
    )
  })

  test('leaves out all rules where there are too many', () => {
    const tooMany = (input: LinkInput) =>
      input.rules?.length === 0 ? NO_FAULTS : { rules: [{ code: 'too_many' as const, max: 1 }] }
    const found = usableRules({ rules: [rule('one'), rule('two')] }, tooMany)
    assert.deepEqual([found.rules, found.left.length], [null, 2])
  })
})
