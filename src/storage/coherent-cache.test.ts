import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { eventually } from '../../test/support/eventually.ts'
import { CoherentCache } from './coherent-cache.ts'

type Value = { readonly text: string }

/** A store whose look-ups the test ends. */
class HeldStore {
  readonly names: string[] = []
  readonly #pending: PromiseWithResolvers<Value | undefined>[] = []

  load = (name: string): Promise<Value | undefined> => {
    const pending = Promise.withResolvers<Value | undefined>()
    this.names.push(name)
    this.#pending.push(pending)
    return pending.promise
  }

  /** Ends the oldest pending look-up. */
  answer(value: Value | undefined): void {
    this.#pending.shift()?.resolve(value)
  }

  fail(error: Error): void {
    this.#pending.shift()?.reject(error)
  }
}

const OLD = { text: 'old' }
const NEW = { text: 'new' }

describe('CoherentCache', () => {
  let store: HeldStore
  let cache: CoherentCache<Value>
  beforeEach(() => {
    store = new HeldStore()
    cache = new CoherentCache({ sizeMax: 10, sizeOf: () => 1, load: store.load })
  })

  /** Reads `name` and lets the store answer with `value`. */
  async function learn(name: string, value: Value | undefined): Promise<void> {
    const read = cache.get(name)
    store.answer(value)
    assert.equal(await read, value)
  }

  test('reads the store once, and then answers at once', async () => {
    await learn('a', OLD)
    assert.equal(cache.get('a'), OLD)
    assert.deepEqual(store.names, ['a'])
  })

  test('caches absences', async () => {
    await learn('a', undefined)
    assert.equal(cache.get('a'), undefined)
    assert.deepEqual(store.names, ['a'])
  })

  test('shares one look-up among concurrent readers', async () => {
    const answers = Promise.all([cache.get('a'), cache.get('a'), cache.get('a')])
    store.answer(OLD)
    assert.deepEqual(await answers, [OLD, OLD, OLD])
    assert.deepEqual(store.names, ['a'])
  })

  for (const known of [OLD, undefined]) {
    const what = known === undefined ? 'an absence' : 'a value'
    test(`reads ${what} again after forget`, async () => {
      await learn('a', known)
      cache.forget('a')
      await learn('a', NEW)
      assert.equal(cache.get('a'), NEW)
    })

    test(`reads ${what} again after forgetAll`, async () => {
      await learn('a', known)
      cache.forgetAll()
      await learn('a', NEW)
    })

    test(`does not cache ${what} when forget comes during its look-up`, async () => {
      const read = cache.get('a')
      cache.forget('a')
      store.answer(known)
      assert.equal(await read, known)
      await learn('a', NEW)
      assert.equal(cache.get('a'), NEW)
    })

    test(`does not cache ${what} when forgetAll comes during its look-up`, async () => {
      const read = cache.get('a')
      cache.forgetAll()
      store.answer(known)
      await read
      await learn('a', NEW)
      assert.equal(cache.get('a'), NEW)
    })
  }

  test('starts a new look-up for readers after a change instead of joining an older one', async () => {
    const before = cache.get('a')
    cache.forget('a')
    const after = cache.get('a')
    store.answer(OLD)
    store.answer(NEW)
    assert.equal(await before, OLD)
    assert.equal(await after, NEW)
    assert.equal(cache.get('a'), NEW)
  })

  test('keeps the newer of two look-ups when they end in reverse order', async () => {
    const ends: PromiseWithResolvers<Value | undefined>[] = []
    cache = new CoherentCache({
      sizeMax: 10,
      sizeOf: () => 1,
      load() {
        const end = Promise.withResolvers<Value | undefined>()
        ends.push(end)
        return end.promise
      },
    })
    const before = cache.get('a')
    cache.forget('a')
    const after = cache.get('a')
    ends[1]?.resolve(NEW)
    await after
    ends[0]?.resolve(OLD)
    await before
    assert.equal(cache.get('a'), NEW)
  })

  test('forgets absences and keeps values with forgetAbsences', async () => {
    await learn('present', OLD)
    await learn('absent', undefined)
    cache.forgetAbsences()
    assert.equal(cache.get('present'), OLD)
    await learn('absent', NEW)
  })

  test('reads again instead of answering with a slow look-up that a change overtook', async (t) => {
    t.mock.method(performance, 'now', () => nowMs)
    let nowMs = 0
    const read = cache.get('a')
    cache.forget('a')
    nowMs = 10_000
    store.answer(OLD)
    await nextTurn()
    store.answer(NEW)
    assert.equal(await read, NEW)
    assert.equal(cache.get('a'), NEW)
  })

  test('forgets one name and keeps the others', async () => {
    await learn('a', OLD)
    await learn('b', OLD)
    cache.forget('a')
    assert.equal(cache.get('b'), OLD)
  })

  test('rejects every reader of a failed look-up, caches nothing, and reads again', async () => {
    const [one, other] = [cache.get('a'), cache.get('a')]
    store.fail(new Error('the store is unavailable'))
    await assert.rejects(async () => one, /the store is unavailable/)
    await assert.rejects(async () => other, /the store is unavailable/)
    await learn('a', NEW)
    assert.equal(cache.get('a'), NEW)
  })

  test('keeps the newer look-up when an older, forgotten one fails', async () => {
    const before = cache.get('a')
    cache.forget('a')
    const after = cache.get('a')
    store.fail(new Error('the store was unavailable'))
    await assert.rejects(async () => before)
    assert.equal(cache.get('a'), after, 'later readers still join it')
    store.answer(NEW)
    assert.equal(await after, NEW)
  })

  test('holds at most its size in values, and absences take none of it', async () => {
    for (let index = 0; index < 15; index += 1) await learn(`absent ${index}`, undefined)
    for (let index = 0; index < 15; index += 1) await learn(`present ${index}`, OLD)
    const kept = Array.from({ length: 15 }, (_, index) => cache.get(`present ${index}`))
    assert.equal(kept.filter((value) => value === OLD).length, 10)
    assert.equal(cache.get('absent 0'), undefined)
  })

  describe('renew', () => {
    test('loads a cached value at once, and readers wait for the new value', async () => {
      await learn('a', OLD)
      cache.renew('a')
      assert.deepEqual(store.names, ['a', 'a'])
      const read = cache.get('a')
      store.answer(NEW)
      assert.equal(await read, NEW)
      assert.equal(cache.get('a'), NEW)
      assert.deepEqual(store.names, ['a', 'a'])
    })

    test('loads nothing that is not cached', async () => {
      await learn('absent', undefined)
      cache.renew('absent')
      cache.renew('unknown')
      await nextTurn()
      assert.deepEqual(store.names, ['absent'])
    })

    test('never returns the old value, even when the new one cannot be loaded', async () => {
      await learn('a', OLD)
      cache.renew('a')
      const read = cache.get('a')
      store.fail(new Error('unavailable'))
      await assert.rejects(async () => read, /unavailable/)
      assert.ok(cache.get('a') instanceof Promise)
      store.answer(NEW)
    })

    test('loads the value again when it changes while loading', async () => {
      await learn('a', OLD)
      cache.renew('a')
      cache.renew('a')
      store.answer(OLD)
      await eventually(async () => assert.deepEqual(store.names, ['a', 'a', 'a']))
      store.answer(NEW)
      await eventually(async () => assert.equal(cache.get('a'), NEW))
    })

    test('limits how many values load at once', async () => {
      const names = Array.from({ length: 10 }, (_, index) => String(index))
      for (const name of names) await learn(name, OLD)
      for (const name of names) cache.renew(name)
      await nextTurn()
      const underWay = store.names.length - names.length
      assert.ok(underWay > 0 && underWay < names.length, `${underWay} under way`)
      await eventually(async () => {
        store.answer(NEW)
        for (const name of names) assert.ok(cache.holds(name, NEW))
      })
    })
  })
})
