import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { activeElsewhere, adviseOnRouting } from './dns-advice.ts'

describe('advice on the DNS of a domain', () => {
  test('names an international host in both forms', () => {
    const host = 'xn--mnchen-3ya.example'
    const both = `münchen.example (${host})`
    const [missing] = adviseOnRouting(host, { state: 'no_name' }, [])
    assert.ok(missing?.text.startsWith(`${both} does not exist in DNS yet`))
    assert.ok(activeElsewhere(host).text.startsWith(`${both} is in use`))
  })
})
