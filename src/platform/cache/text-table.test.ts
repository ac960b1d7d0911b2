import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TextTable } from './sieve-cache.ts'

type Entry = { readonly key: string; readonly number: number }

describe('TextTable', () => {
  test('finds, adds and removes what a Map would', () => {
    const table = new TextTable<Entry>()
    const map = new Map<string, Entry>()
    let state = 1
    const below = (limit: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
      return (state >>> 8) % limit
    }
    // First the table grows, then it shrinks, so that many entries move into gaps.
    for (let step = 0; step < 60_000; step += 1) {
      const key = `page-${below(4_000)}`
      const entry = map.get(key)
      assert.equal(table.get(key), entry)
      const adds = below(10) < (step < 30_000 ? 7 : 3)
      if (entry === undefined && adds) {
        const added = { key, number: step }
        table.add(added)
        map.set(key, added)
      } else if (entry !== undefined && !adds) {
        table.remove(key)
        map.delete(key)
      }
      assert.equal(table.size, map.size)
    }
    assert.deepEqual(
      [...table].sort((a, b) => a.number - b.number),
      [...map.values()].sort((a, b) => a.number - b.number),
    )
    for (const key of [...map.keys()]) table.remove(key)
    assert.equal(table.size, 0)
    assert.deepEqual([...table], [])
  })

  test('distinguishes texts by all of their characters', () => {
    const table = new TextTable<Entry>()
    const texts = [
      '',
      'a',
      'ab',
      'ba',
      'abc',
      'ab\0',
      '\0ab',
      'é',
      '☕',
      '☕️',
      '😀',
      'a'.repeat(1_000),
    ]
    for (const [number, key] of texts.entries()) table.add({ key, number })
    for (const [number, key] of texts.entries()) {
      assert.equal(table.get(key)?.number, number, key)
      // Another string object with the same characters.
      assert.equal(table.get(Buffer.from(key).toString())?.number, number, key)
    }
    for (const unknown of ['b', 'aa', 'abcd', 'a'.repeat(999)]) {
      assert.equal(table.get(unknown), undefined, unknown)
    }
  })

  test('is empty after clear, and can be filled again', () => {
    const table = new TextTable<Entry>()
    for (let number = 0; number < 100; number += 1) table.add({ key: String(number), number })
    table.clear()
    assert.equal(table.size, 0)
    assert.equal(table.get('7'), undefined)
    table.add({ key: '7', number: 7 })
    assert.equal(table.get('7')?.number, 7)
  })
})
