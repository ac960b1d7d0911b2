import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../../../test/support/properties.ts'
import { readTimeOrderedPage, type TimeCursor } from './pages.ts'

type Item = { readonly name: string; readonly time: number }

/** A list that shows items of equal times in another order at every request. */
class RestlessList {
  items: Item[]
  readonly #order: 'newest first' | 'oldest first'
  readonly #byPage: boolean
  #requests = 0

  constructor(items: Item[], order: 'newest first' | 'oldest first', byPage: boolean) {
    this.items = items
    this.#order = order
    this.#byPage = byPage
  }

  async fetchSlice(start: number, size: number) {
    this.#requests += 1
    const turn = this.#requests % 2 === 0 ? 1 : -1
    const direction = this.#order === 'newest first' ? -1 : 1
    const sorted = this.items.toSorted(
      (a, b) => direction * (a.time - b.time) || turn * (a.name < b.name ? -1 : 1),
    )
    const from = this.#byPage ? Math.floor(start / size) * size : start
    const items = sorted.slice(from, from + size)
    return { start: from, items, isLast: from + items.length >= sorted.length }
  }

  /** By time, then by name. */
  inOrder(): string[] {
    const direction = this.#order === 'newest first' ? -1 : 1
    return this.items
      .toSorted((a, b) => direction * (a.time - b.time) || (a.name < b.name ? -1 : 1))
      .map(({ name }) => name)
  }

  async read(size: number, between: (read: number) => void = () => {}): Promise<string[]> {
    const names: string[] = []
    let cursor: TimeCursor | undefined
    do {
      const page = await readTimeOrderedPage<Item>(
        {
          fetchSlice: (start, sliceSize) => this.fetchSlice(start, sliceSize),
          timeOf: ({ time }) => time,
          idOf: ({ name }) => name,
          order: this.#order,
          size,
        },
        cursor,
      )
      names.push(...page.items.map(({ name }) => name))
      cursor = page.next
      between(names.length)
    } while (cursor !== undefined)
    return names
  }
}

const itemsOf = (times: readonly number[]) =>
  times.map((time, index) => ({ name: `item ${index}`, time }))
const order = fc.constantFrom('newest first' as const, 'oldest first' as const)

describe('readTimeOrderedPage', () => {
  test('reads each item once and in one order, however many have equal times', async () => {
    const times = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(
        times,
        order,
        fc.boolean(),
        fc.integer({ min: 1, max: 9 }),
        async (...args) => {
          const [given, direction, byPage, size] = args
          const list = new RestlessList(itemsOf(given), direction, byPage)
          assert.deepEqual(await list.read(size), list.inOrder())
        },
      ),
      cases(300),
    )
  })

  test('reads what was there all the time once, while items are created and deleted', async () => {
    const times = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 10, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(
        times,
        order,
        fc.boolean(),
        fc.nat(9),
        async (given, direction, byPage, at) => {
          const list = new RestlessList(itemsOf(given), direction, byPage)
          const stays = list.items.filter((_, index) => index % 10 !== at)
          const read = await list.read(5, (count) => {
            if (count < 10) return
            list.items = [...stays, { name: `new ${count}`, time: 100 + count }]
          })
          const kept = read.filter((name) => stays.some((item) => item.name === name))
          assert.deepEqual(kept.sort(), stays.map(({ name }) => name).sort())
        },
      ),
      cases(300),
    )
  })
})
