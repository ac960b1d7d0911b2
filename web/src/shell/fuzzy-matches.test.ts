import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fuzzyMatches } from './fuzzy-matches.ts'

const NAMES = [
  'Create link',
  'Go to Analytics',
  'Settings: Members',
  'Settings: Sessions',
  'Sign out',
  'Übersicht öffnen',
]

const CASES: readonly (readonly [string, readonly string[]])[] = [
  ['sign out', ['Sign out']],
  ['sgn out', ['Sign out']],
  ['sing out', ['Sign out']],
  ['out sign', ['Sign out']],
  ['ana', ['Go to Analytics']],
  ['analitics', ['Go to Analytics']],
  ['setings mem', ['Settings: Members']],
  ['offnen', ['Übersicht öffnen']],
  ['xyz', []],
  ['', NAMES],
]

describe('fuzzyMatches', () => {
  for (const [typed, expected] of CASES) {
    test(`finds ${expected.join(', ') || 'nothing'} for "${typed}"`, () => {
      assert.deepEqual(
        fuzzyMatches(typed, NAMES, (name) => name),
        expected,
      )
    })
  }

  test('puts the better match first', () => {
    const names = ['Catalogue of links', 'Log', 'Login']
    assert.equal(fuzzyMatches('log', names, (name) => name)[0], 'Log')
  })
})
