import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { systemRandom } from '../platform/crypto/random.ts'
import { TOKEN_LENGTH_MAX, visitTokens } from './token.ts'

const WORKSPACE = '01a1f86c-3f0a-7c21-9b1e-5d0c8a4f7e11'
const VISIT = {
  ...{ linkSeq: 7, atMs: Date.UTC(2026, 10, 28), country: 'DE' },
  ...{ rule: '', variant: '', label: '' },
}

describe('tokens of visits', () => {
  const tokens = visitTokens(randomBytes(32), systemRandom)

  test('say what is known of the visit, and differ for two visits', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 30 })
    fc.assert(
      fc.property(
        fc.record({
          linkSeq: fc.integer({ min: 1, max: 2 ** 48 - 1 }),
          atMs: fc.integer({ min: 0, max: 2 ** 47 }),
          country: fc.constantFrom('', 'DE', 'JP'),
          ...{ rule: text, variant: text, label: text },
        }),
        (visit) => {
          const [first, second] = [tokens.make(WORKSPACE, visit), tokens.make(WORKSPACE, visit)]
          const { visit: nonce, ...read } = tokens.read(WORKSPACE, first) ?? assert.fail()
          // A variant is always of a rule.
          const isPlain = visit.rule === '' && visit.label === ''
          assert.deepEqual(read, { ...visit, variant: isPlain ? '' : visit.variant })
          assert.notEqual(tokens.read(WORKSPACE, second)?.visit, nonce)
        },
      ),
    )
  })

  test('have 48 characters, and fit into what is accepted with the longest values', () => {
    assert.match(tokens.make(WORKSPACE, VISIT), /^[A-Za-z0-9_-]{48}$/)
    const longest = 'ä'.repeat(120)
    const token = tokens.make(WORKSPACE, {
      ...{ ...VISIT, rule: longest, variant: longest, label: longest },
    })
    assert.ok(token.length <= TOKEN_LENGTH_MAX)
    assert.equal(tokens.read(WORKSPACE, token)?.label, longest)
  })

  test('are refused where they are forged, cut, spelt differently, or of another workspace or key', () => {
    const token = tokens.make(WORKSPACE, { ...VISIT, label: 'a' })
    for (let index = 0; index < token.length; index += 1) {
      const other = token[index] === 'A' ? 'B' : 'A'
      const forged = token.slice(0, index) + other + token.slice(index + 1)
      assert.equal(tokens.read(WORKSPACE, forged), undefined)
      assert.equal(tokens.read(WORKSPACE, token.slice(0, index)), undefined)
    }
    assert.equal(tokens.read(WORKSPACE, `${token}=`), undefined)
    assert.equal(tokens.read(WORKSPACE.replace('01a1', '01a2'), token), undefined)
    assert.equal(visitTokens(randomBytes(32), systemRandom).read(WORKSPACE, token), undefined)
  })
})
