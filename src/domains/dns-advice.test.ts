import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { activeElsewhere, adviseOnRouting } from './dns-advice.ts'

const ROUTING = {
  purpose: 'routing',
  type: 'CNAME',
  name: 'links',
  full_name: 'links.acme.test',
  value: 'go.test',
} as const

describe('DNS advice', () => {
  test('names an international host in both forms', () => {
    const host = 'xn--mnchen-3ya.example'
    const both = `münchen.example (${host})`
    const [missing] = adviseOnRouting(host, { state: 'no_name' }, [])
    assert.ok(missing?.text.startsWith(`${both} does not exist in DNS yet`))
    assert.ok(activeElsewhere(host).text.startsWith(`${both} is in use`))
  })

  for (const { target, expected } of [
    { target: 'gone.test', expected: /replace it by the record CNAME links → go\.test\.$/ },
    {
      target: 'go.test',
      expected:
        /^links\.acme\.test leads to go\.test, as it should, but that name has no address: the operator/,
    },
  ]) {
    test(`advises on an alias of ${target}, which has no address`, () => {
      const [dangling] = adviseOnRouting('links.acme.test', { state: 'dangling', target }, [
        ROUTING,
      ])
      assert.match(dangling?.text ?? '', expected)
    })
  }
})
