import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { appendPath, fillPath, indexPaths, matchPath, withPlaceholders } from './paths.ts'

describe('matchPath', () => {
  const matched = (keys: readonly string[], path: string) => matchPath(indexPaths(keys), path)

  test('finds the key that covers most segments', () => {
    const keys = ['docs', 'docs/api', 'docs/api/v1/old']
    assert.equal(matched(keys, '/docs/api/v1')?.key, 'docs/api')
    assert.equal(matched(keys, '/docs/x')?.key, 'docs')
    assert.equal(matched(keys, '/doc/x'), undefined)
    assert.equal(matched(keys, '/docsx'), undefined)
  })

  test('prefers literal segments to placeholders where both cover as much', () => {
    const keys = ['p/{id}', 'p/new', 'p/{id}/edit', 'p/{id}/{tab}']
    assert.equal(matched(keys, '/p/new')?.key, 'p/new')
    assert.equal(matched(keys, '/p/12')?.key, 'p/{id}')
    assert.equal(matched(keys, '/p/new/edit')?.key, 'p/{id}/edit')
    assert.equal(matched(keys, '/p/new/x')?.key, 'p/{id}/{tab}')
  })

  test('returns what the placeholders and the rest hold, decoded, and the rest as sent', () => {
    const match = matched(['p/{id}'], '/p/a%20b/c%2Fd/e/')
    assert.deepEqual([...(match?.named ?? [])], [['id', 'a b']])
    assert.deepEqual(match?.segments, ['c/d', 'e', ''])
    assert.equal(match?.rest, '/c%2Fd/e/')
  })

  test('ignores the letter case of keys, and prefers the exact one', () => {
    assert.equal(matched(['Docs'], '/dOCS/x')?.key, 'Docs')
    assert.equal(matched(['Docs', 'docs'], '/docs/x')?.key, 'docs')
  })

  test('finds nothing for dots, broken encodings and very long paths', () => {
    for (const path of ['/d/..', '/d/%2e%2e/x', '/d/./x', '/d/%ff', `/d/${'x/'.repeat(200)}`]) {
      assert.equal(matched(['d'], path), undefined, path)
    }
  })

  test('finds a key that is a prefix of any path of plain segments', () => {
    const segment = fc.stringMatching(/^[a-z0-9_-]{1,8}$/)
    const segments = fc.array(segment, { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(fc.array(segments, { maxLength: 20 }), segments, (keys, path) => {
        const prefixes = keys
          .map((key) => key.join('/'))
          .filter((key) => `${path.join('/')}/`.startsWith(`${key}/`))
        const longest = prefixes.toSorted((a, b) => b.length - a.length)[0]
        const index = indexPaths(keys.map((key) => key.join('/')))
        assert.equal(matchPath(index, `/${path.join('/')}`)?.key, longest)
      }),
    )
  })
})

describe('a destination', () => {
  const match = matchPath(indexPaths(['p/{id}']), '/p/a%2Fb/c/d')

  test('gets the rest of the path before its query', () => {
    assert.ok(match)
    assert.equal(appendPath('https://a.example', match), 'https://a.example/c/d')
    assert.equal(appendPath('https://a.example/x/?y=1#z', match), 'https://a.example/x/c/d?y=1#z')
    assert.equal(appendPath('mailto:a@b.example', match), 'mailto:a@b.example')
  })

  test('gets the parts of the path in the place of its placeholders', () => {
    const prepared = withPlaceholders('https://a.example/%7Bid%7D/%7B2%7D?all={path}&no={other}')
    const filled = fillPath(prepared, match)
    assert.equal(filled, 'https://a.example/a%2Fb/d?all=c/d&no={other}')
  })

  test('has nothing in their place where the key alone was visited', () => {
    assert.equal(fillPath('https://a.example/{1}?all={path}', undefined), 'https://a.example/?all=')
  })
})
