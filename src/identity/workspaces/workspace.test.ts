import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { namesOf, parseWorkspaceName, parseWorkspaceTitle } from './workspace.ts'

const SLUGS: readonly (readonly [string, string, string])[] = [
  ['Acme', 'acme', 'acme-2'],
  ['Acme Shop (EU)', 'acme-shop-eu', 'acme-shop-eu-2'],
  ['Größe & Maß', 'grosse-mass', 'grosse-mass-2'],
  ['  --a--  ', 'a', 'a-2'],
  ['東京', 'workspace', 'workspace-2'],
  ['x'.repeat(80), 'x'.repeat(63), `${'x'.repeat(61)}-2`],
]

describe('the names that follow from the title of a workspace', () => {
  for (const [title, first, second] of SLUGS) {
    test(`are "${first}" and "${second}" for "${title}"`, () => {
      const names = namesOf(title)
      const shown = [names.next().value, names.next().value]
      assert.deepEqual(shown, [first, second])
      for (const name of shown) assert.ok('value' in parseWorkspaceName(name), name)
    })
  }
})

describe('the title of a workspace', () => {
  test('has any letters, and no space around it', () => {
    assert.deepEqual(parseWorkspaceTitle(' Acme Größe 東京 '), { value: 'Acme Größe 東京' })
  })

  test('is refused when it is empty or holds a web address', () => {
    assert.deepEqual(parseWorkspaceTitle(' '), { fault: { code: 'empty' } })
    for (const title of ['Win at evil.com', 'https://evil.com', 'www.evil']) {
      assert.deepEqual(parseWorkspaceTitle(title), { fault: { code: 'web_address' } })
    }
  })
})
