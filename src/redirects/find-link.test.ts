import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { variantOf } from '../../test/support/key-variants.ts'
import { memoryWarmStart } from '../../test/support/memory-warm-start.ts'
import { foldKey } from '../links/key.ts'
import { NO_ATTRIBUTES } from '../links/link.ts'
import type { VisitedLink } from '../links/store/link-directory.ts'
import { linkChange } from '../storage/changes.ts'
import type { WarmStart } from '../storage/coherent-cache.ts'
import { LinkFinder } from './find-link.ts'

const KEYSPACE = 7
const KEY = 'abcdefgh'
const SPELLINGS = Array.from({ length: 2 ** KEY.length }, (_, number) => variantOf(KEY, number))
/** Enough for about four links. */
const BYTES_MAX = 2_000

describe('LinkFinder', () => {
  /** The links in the store, by key. */
  let stored: Map<string, VisitedLink>
  let reads: { folded: number; exact: number }
  /** What a store read awaits after it has seen the links. */
  let delay: Promise<void> | undefined
  let finder: LinkFinder
  beforeEach(() => {
    stored = new Map()
    reads = { folded: 0, exact: 0 }
    delay = undefined
    finder = open()
  })

  function open(warmStart?: WarmStart): LinkFinder {
    return new LinkFinder({
      bytesMax: BYTES_MAX,
      warmStart,
      directory: {
        findActiveHost: async () => undefined,
        findRuleSet: async () => undefined,
        findPathKeys: async () =>
          [...stored.values()].filter(({ path }) => path !== 'none').map(({ key }) => key),
        findDocument: async () => undefined,
        async findByFoldedKey(_keyspaceId, foldedKey) {
          reads.folded += 1
          const found = [...stored.values()].filter(({ key }) => foldKey(key) === foldedKey)
          await delay
          return found.slice(0, 2)
        },
        async findByKey(_keyspaceId, key) {
          reads.exact += 1
          const found = stored.get(key)
          await delay
          return found
        },
        findVisitSettings: async () => ({
          labelParameter: 'via',
          tokenParameter: 'tc',
          tracksConversions: false,
        }),
      },
    })
  }

  function store(key: string, url: string): void {
    const ids = { seq: stored.size + 1, id: '', workspace_id: '' }
    stored.set(key, { ...NO_ATTRIBUTES, ...ids, key, url })
  }

  /** Applies a change as if another process had made it. */
  function change(key: string): void {
    finder.apply([linkChange(KEYSPACE, foldKey(key))])
  }

  const find = async (key: string) => (await finder.findLink(KEYSPACE, key))?.url

  test('finds the only link of a key in every letter case with one read and one cache entry', async () => {
    store('AbcDefgh', 'https://one.example/')
    for (const spelling of SPELLINGS) assert.equal(await find(spelling), 'https://one.example/')
    assert.deepEqual(reads, { folded: 1, exact: 0 })
    assert.equal(finder.uses.links.entries, 1)
  })

  test('finds each of several links by its exact key, and none by another letter case', async () => {
    store('SALE', 'https://upper.example/')
    store('sale', 'https://lower.example/')
    for (const _visit of ['first', 'second']) {
      assert.equal(await find('SALE'), 'https://upper.example/')
      assert.equal(await find('sale'), 'https://lower.example/')
      assert.equal(await find('Sale'), undefined)
    }
    assert.deepEqual(reads, { folded: 1, exact: 3 })
  })

  test('keeps other links cached while one key is visited in all letter cases', async () => {
    store('other', 'https://other.example/')
    await find('other')
    for (const several of [false, true]) {
      store(KEY, 'https://one.example/')
      if (several) store(KEY.toUpperCase(), 'https://two.example/')
      change(KEY)
      for (const spelling of SPELLINGS) await find(spelling)
      reads.folded = 0
      assert.equal(await find('other'), 'https://other.example/')
      assert.equal(reads.folded, 0, 'it was not evicted')
      assert.ok(finder.uses.links.entries <= 4, `${finder.uses.links.entries} entries`)
    }
  })

  test('forgets all links of a folded key when one of them changes', async () => {
    store('SALE', 'https://upper.example/')
    store('sale', 'https://lower.example/')
    await find('SALE')
    await find('sale')
    await find('Sale')
    store('SALE', 'https://changed.example/')
    store('Sale', 'https://added.example/')
    change('Sale')
    assert.equal(await find('SALE'), 'https://changed.example/')
    assert.equal(await find('Sale'), 'https://added.example/')
    stored.delete('SALE')
    stored.delete('sale')
    change('SALE')
    assert.equal(await find('SALE'), 'https://added.example/')
  })

  test('does not cache an exact read that a change overtook', async () => {
    store('SALE', 'https://upper.example/')
    store('sale', 'https://lower.example/')
    await find('sale')
    const { promise, resolve } = Promise.withResolvers<void>()
    delay = promise
    const overtaken = find('SALE')
    store('SALE', 'https://changed.example/')
    delay = undefined
    change('SALE')
    assert.equal(await find('SALE'), 'https://changed.example/')
    resolve()
    await overtaken
    assert.equal(await find('SALE'), 'https://changed.example/')
  })

  test('repeats an exact read that a change overtook after half a second', async (t) => {
    store('SALE', 'https://upper.example/')
    store('sale', 'https://lower.example/')
    await find('sale')
    const { promise, resolve } = Promise.withResolvers<void>()
    delay = promise
    const startedMs = performance.now()
    const overtaken = find('SALE')
    store('SALE', 'https://changed.example/')
    change('SALE')
    delay = undefined
    t.mock.method(performance, 'now', () => startedMs + 1_000)
    resolve()
    assert.equal(await overtaken, 'https://changed.example/')
  })

  test('does not confuse a path with the cache name of a letter-case variant', async () => {
    store('SALE', 'https://upper.example/')
    store('sale', 'https://lower.example/')
    for (const path of [`=/${KEYSPACE}/sale`, `=x/${KEYSPACE}/sale`, `${KEYSPACE}/sale`]) {
      assert.equal(await find(path), undefined, path)
    }
  })

  test('restores links after a restart without the store', async () => {
    const warmStart = memoryWarmStart()
    finder = open(warmStart)
    store('SALE', 'https://upper.example/')
    store('sale', 'https://lower.example/')
    store('one', 'https://one.example/')
    for (const key of ['SALE', 'sale', 'one']) await find(key)
    reads = { folded: 0, exact: 0 }
    finder = open(warmStart)
    finder.restore()
    assert.equal(await find('SALE'), 'https://upper.example/')
    assert.equal(await find('sale'), 'https://lower.example/')
    assert.equal(await find('ONE'), 'https://one.example/')
    assert.deepEqual(reads, { folded: 0, exact: 0 })
    store('SALE', 'https://changed.example/')
    change('sale')
    assert.equal(await find('SALE'), 'https://changed.example/')
  })
})
