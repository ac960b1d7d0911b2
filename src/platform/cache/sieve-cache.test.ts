import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../../test/support/properties.ts'
import { SieveCache } from './sieve-cache.ts'

const SIZE_MAX = 20

type Step =
  | { readonly kind: 'get' | 'delete'; readonly key: string }
  | { readonly kind: 'set'; readonly key: string; readonly size: number }
  | { readonly kind: 'clear' }

const key = fc.constantFrom(...'abcdefghijkl')
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('get' as const), key }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('set' as const),
      key,
      size: fc.oneof(
        { weight: 9, arbitrary: fc.integer({ min: 1, max: 4 }) },
        { weight: 1, arbitrary: fc.integer({ min: 5, max: SIZE_MAX + 2 }) },
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), key }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
)

/** What a cache without eviction would hold: each key’s last value and its size. */
type Model = Map<string, { readonly value: number; readonly size: number }>

function take(cache: SieveCache<number>, model: Model, step: Step, value: number): void {
  switch (step.kind) {
    case 'get':
      cache.get(step.key)
      break
    case 'delete':
      cache.delete(step.key)
      model.delete(step.key)
      break
    case 'clear':
      cache.clear()
      model.clear()
      break
    case 'set':
      cache.set(step.key, value, step.size)
      if (step.size > SIZE_MAX) model.delete(step.key)
      else model.set(step.key, { value, size: step.size })
  }
}

describe('SieveCache', () => {
  test('stays within its size and returns the last value that was set, or nothing', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const cache = new SieveCache<number>(SIZE_MAX)
        const model: Model = new Map()
        for (const [index, taken] of steps.entries()) {
          take(cache, model, taken, index)
          assert.ok(cache.size <= SIZE_MAX, `holds ${cache.size}`)
          if (taken.kind === 'set' && taken.size <= SIZE_MAX) {
            assert.equal(cache.get(taken.key), index, 'what was just set is there')
          }
        }
        let count = 0
        let size = 0
        for (const name of 'abcdefghijkl') {
          const value = cache.get(name)
          if (value === undefined) continue
          const expected = model.get(name)
          assert.equal(value, expected?.value)
          count += 1
          size += expected?.size ?? 0
        }
        assert.equal(cache.count, count)
        assert.equal(cache.size, size)
      }),
      cases(300),
    )
  })

  test('keeps popular names through a flood of names that are read once', () => {
    const cache = new SieveCache<string>(100)
    const popular = Array.from({ length: 50 }, (_, index) => `popular ${index}`)
    for (const name of popular) cache.set(name, name, 1)
    for (let index = 0; index < 10_000; index += 1) {
      for (const name of popular.slice(0, index % 5 === 0 ? 50 : 0)) cache.get(name)
      cache.set(`once ${index}`, 'once', 1)
    }
    assert.deepEqual(
      popular.filter((name) => cache.get(name) === undefined),
      [],
    )
    assert.equal(cache.count, 100)
  })

  test('evicts a formerly popular name in favour of newer ones', () => {
    const cache = new SieveCache<string>(10)
    cache.set('old', 'old', 1)
    cache.get('old')
    for (let index = 0; index < 30; index += 1) {
      cache.set(`new ${index}`, 'new', 1)
      cache.get(`new ${index}`)
    }
    assert.equal(cache.get('old'), undefined)
  })

  test('does not keep a value larger than the whole cache, nor that key’s previous value', () => {
    const cache = new SieveCache<string>(10)
    cache.set('a', 'small', 1)
    cache.set('b', 'other', 1)
    cache.set('a', 'large', 11)
    assert.equal(cache.get('a'), undefined)
    assert.equal(cache.get('b'), 'other')
    assert.equal(cache.size, 1)
  })

  test('calls back for each value that is replaced, deleted, evicted, cleared or too large', () => {
    const gone: string[] = []
    const cache = new SieveCache<string>(2, (value) => gone.push(value))
    cache.set('a', 'replaced', 1)
    cache.set('a', 'kept', 1)
    assert.deepEqual(gone.splice(0), ['replaced'])
    cache.set('b', 'deleted', 1)
    cache.delete('b')
    cache.delete('b')
    assert.deepEqual(gone.splice(0), ['deleted'])
    cache.set('b', 'second', 1)
    cache.set('c', 'third', 1)
    assert.deepEqual(gone.splice(0), ['kept'])
    cache.set('c', 'too large', 3)
    cache.clear()
    assert.deepEqual(gone, ['third', 'second'])
  })
})
