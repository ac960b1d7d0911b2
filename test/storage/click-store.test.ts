import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLICK_FLAGS, type Click } from '../../src/domain/clicks/click.ts'
import type { JournalPosition } from '../../src/domain/clicks/click-store.ts'
import { someClick } from '../support/clicks.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { addHome, addLink, NOW, unique } from './samples.ts'

describeStore('the click store', (at) => {
  const insert = (clicks: readonly Click[]) =>
    at.store.write((stores) => stores.clicks.insert(clicks))
  const move = (
    journal: string,
    from: JournalPosition | undefined,
    to: JournalPosition,
    store = at.store,
  ) => store.write((stores) => stores.clicks.movePosition(journal, from, to, NOW))

  test('moves a journal’s position from where it stands, and from nowhere else', async () => {
    const journal = unique('journal')
    const [first, second] = [
      { segment: 1, offset: 10 },
      { segment: 2, offset: 10 },
    ]
    const position = () => at.store.read.clicks.findPosition(journal)
    assert.equal(await position(), undefined)
    assert.equal(await move(journal, first, second), false, 'it stands nowhere yet')
    assert.equal(await move(journal, undefined, first), true)
    same(await position(), first)
    assert.equal(await move(journal, undefined, second), false, 'it has begun')
    assert.equal(await move(journal, second, first), false, 'another segment')
    assert.equal(await move(journal, { segment: 1, offset: 9 }, second), false, 'another offset')
    same(await position(), first)
    assert.equal(await move(journal, first, second), true)
    same(await position(), second)
    assert.equal(await at.store.read.clicks.findPosition(unique('journal')), undefined)
  })

  test('lets one of several processes that read the same records move the position', async () => {
    const journal = unique('journal')
    const other = await at.another()
    const steps = [undefined, { segment: 1, offset: 5 }, { segment: 1, offset: 9 }]
    for (const [index, to] of steps.slice(1).entries()) {
      const moved = await Promise.all(
        [at.store, other.store, at.store].map((store) =>
          move(journal, steps[index], to as JournalPosition, store),
        ),
      )
      assert.equal(moved.filter(Boolean).length, 1)
    }
  })

  test('counts people, and keeps everything', async () => {
    const home = await addHome(at.store)
    const [visited, other] = [await addLink(at.store, home), await addLink(at.store, home)]
    const click = (flags: number, after: number) =>
      someClick({ link_seq: visited.seq, at: NOW + after, flags })
    await insert([click(0, 2), click(CLICK_FLAGS.bot, 9), click(0, 1), click(CLICK_FLAGS.head, 8)])
    const find = async (id: string) => at.store.read.links.findById(home.workspace_id, id)
    same(await find(visited.id), { ...visited, clicks: 2, last_click: NOW + 2 })
    same(await find(other.id), other)
    same(
      await at.store.read.clicks.countByFlags(visited.seq),
      new Map([
        [0, 2],
        [CLICK_FLAGS.bot, 1],
        [CLICK_FLAGS.head, 1],
      ]),
    )
    same(await at.store.read.clicks.countByFlags(other.seq), new Map())
  })

  test('never moves the last click back', async () => {
    const home = await addHome(at.store)
    const link = await addLink(at.store, home)
    for (const after of [10, 4, 12, 11]) {
      await insert([someClick({ link_seq: link.seq, at: NOW + after })])
    }
    const found = await at.store.read.links.findById(home.workspace_id, link.id)
    same(found, { ...link, clicks: 4, last_click: NOW + 12 })
  })

  test('takes in more clicks than fit one statement, and none at all', async () => {
    const home = await addHome(at.store)
    const link = await addLink(at.store, home)
    await insert([])
    await insert(
      Array.from({ length: 1_501 }, (_, index) =>
        someClick({ link_seq: link.seq, at: NOW + index }),
      ),
    )
    const found = await at.store.read.links.findById(home.workspace_id, link.id)
    same(found, { ...link, clicks: 1_501, last_click: NOW + 1_500 })
    same(await at.store.read.clicks.countByFlags(link.seq), new Map([[0, 1_501]]))
  })

  test('keeps the clicks of a link that was deleted before they were taken in', async () => {
    const home = await addHome(at.store)
    const link = await addLink(at.store, home)
    await at.store.write((stores) => stores.links.delete(home.workspace_id, link.id))
    await insert([someClick({ link_seq: link.seq, at: NOW })])
    same(await at.store.read.clicks.countByFlags(link.seq), new Map([[0, 1]]))
  })

  test('adds up what several processes count at once', async () => {
    const home = await addHome(at.store)
    const links = [await addLink(at.store, home), await addLink(at.store, home)]
    const other = await at.another()
    const batch = (order: readonly { seq: number }[]) =>
      order.map(({ seq }) => someClick({ link_seq: seq, at: NOW }))
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? at.store : other.store).write((stores) =>
          stores.clicks.insert(batch(index % 3 === 0 ? links : links.toReversed())),
        ),
      ),
    )
    for (const { id } of links) {
      assert.equal((await at.store.read.links.findById(home.workspace_id, id))?.clicks, 20)
    }
  })
})
