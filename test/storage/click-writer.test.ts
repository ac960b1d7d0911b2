import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLICK_FLAGS } from '../../src/domain/clicks/click.ts'
import type { JournalPosition } from '../../src/domain/clicks/click-store.ts'
import type { ClickWriter } from '../../src/domain/clicks/click-writer.ts'
import type { Link } from '../../src/domain/links/link.ts'
import { openWriterAt, takeClicks } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { rawClicksOf } from '../support/raw-clicks.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { addHome, addLink, NOW, unique } from './samples.ts'

describeStore('the click writer', (at) => {
  const move = (
    writer: ClickWriter,
    journalId: string,
    from: JournalPosition | undefined,
    to: JournalPosition,
  ) => writer.take({ journalId, from, to, clicks: [], atMicros: NOW })
  const find = (link: Link) => at.store.read.links.findById(link.workspace_id, link.id)
  const rawOf = ({ workspace_id: workspaceId, seq: linkSeq }: Link) =>
    rawClicksOf(at.store, { kind: 'link', workspaceId, linkSeq })

  test('moves a journal’s position from where it stands, and from nowhere else', async (t) => {
    const writer = openWriterAt(at.place)
    t.after(() => writer.close())
    const journal = unique('journal')
    const [first, second] = [
      { segment: 1, offset: 10 },
      { segment: 2, offset: 10 },
    ]
    const position = () => at.store.read.clicks.findPosition(journal)
    assert.equal(await position(), undefined)
    assert.equal(await move(writer, journal, first, second), false, 'it stands nowhere yet')
    assert.equal(await move(writer, journal, undefined, first), true)
    same(await position(), first)
    same(await writer.findPosition(journal), first)
    assert.equal(await move(writer, journal, undefined, second), false, 'it has begun')
    assert.equal(await move(writer, journal, second, first), false, 'another segment')
    const past = { segment: 1, offset: 9 }
    assert.equal(await move(writer, journal, past, second), false, 'another offset')
    same(await position(), first)
    assert.equal(await move(writer, journal, first, second), true)
    same(await position(), second)
    assert.equal(await at.store.read.clicks.findPosition(unique('journal')), undefined)
  })

  test('lets one of several that read the same clicks take them', async (t) => {
    const link = await addLink(at.store, await addHome(at.store))
    const writers = [1, 2, 3].map(() => openWriterAt(at.place))
    t.after(() => Promise.all(writers.map((writer) => writer.close())))
    const journalId = unique('journal')
    const steps = [undefined, { segment: 1, offset: 5 }, { segment: 1, offset: 9 }]
    for (const [index, to] of steps.slice(1).entries()) {
      const clicks = [1, 2, 3].map((n) => someClick({ at: NOW + n, link_seq: link.seq }))
      const batch = {
        journalId,
        from: steps[index],
        to: to as JournalPosition,
        clicks,
        atMicros: 1,
      }
      const taken = await Promise.all(writers.map((writer) => writer.take(batch)))
      assert.equal(taken.filter(Boolean).length, 1)
    }
    assert.equal((await find(link))?.clicks, 6)
    assert.equal((await rawOf(link)).length, 6)
  })

  test('counts people, and keeps everything', async () => {
    const home = await addHome(at.store)
    const [visited, other] = [await addLink(at.store, home), await addLink(at.store, home)]
    const click = (flags: number, after: number) =>
      someClick({ link_seq: visited.seq, at: NOW + after, flags, referrer: `${after}.example` })
    const clicks = [click(0, 2), click(CLICK_FLAGS.bot, 9), click(0, 1), click(CLICK_FLAGS.head, 8)]
    await at.take(clicks)
    same(await find(visited), { ...visited, clicks: 2, last_click: NOW + 2 })
    same(await find(other), other)
    const named = { link_id: visited.id, key: visited.key, host: home.domain }
    same(
      await rawOf(visited),
      clicks.map((click) => ({ ...click, ...named })),
    )
    same(await rawOf(other), [])
  })

  test('never moves the last click back', async () => {
    const link = await addLink(at.store, await addHome(at.store))
    for (const after of [10, 4, 12, 11]) {
      await at.take([someClick({ link_seq: link.seq, at: NOW + after })])
    }
    same(await find(link), { ...link, clicks: 4, last_click: NOW + 12 })
  })

  test('takes in more clicks than fit one statement, and none at all', async () => {
    const link = await addLink(at.store, await addHome(at.store))
    await at.take([])
    const clicks = Array.from({ length: 2_501 }, (_, index) =>
      someClick({ link_seq: link.seq, at: NOW + index }),
    )
    await at.take(clicks)
    same(await find(link), { ...link, clicks: 2_501, last_click: NOW + 2_500 })
    assert.deepEqual(
      (await rawOf(link)).map(({ at }) => at),
      clicks.map(({ at }) => at),
    )
  })

  test('takes in the clicks of links that were deleted before, and of any day', async () => {
    const home = await addHome(at.store)
    const link = await addLink(at.store, home)
    const gone = await addLink(at.store, home)
    await at.store.write((stores) => stores.links.delete(home.workspace_id, gone.id))
    const instants = [0, 1, 4_000_000_000_000_000, NOW, NOW - 1_000_000 * 86_400 * 400]
    const seqs = [link.seq, gone.seq]
    await at.take(instants.flatMap((at) => seqs.map((link_seq) => someClick({ link_seq, at }))))
    assert.equal((await find(link))?.clicks, instants.length)
    const scope = { kind: 'link', workspaceId: home.workspace_id, linkSeq: link.seq } as const
    const days = await at.store.read.reports.readDays(scope, 0, 47_000, { slots: false })
    assert.equal(days.length, 4)
  })

  test('adds up what several processes count at once', async (t) => {
    const home = await addHome(at.store)
    const links = [await addLink(at.store, home), await addLink(at.store, home)]
    const writers = [openWriterAt(at.place), openWriterAt(at.place)]
    t.after(() => Promise.all(writers.map((writer) => writer.close())))
    const batch = (order: readonly { seq: number }[]) =>
      order.map(({ seq }) => someClick({ link_seq: seq, at: NOW }))
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        takeClicks(
          writers[index % 2] as ClickWriter,
          batch(index % 3 === 0 ? links : links.toReversed()),
        ),
      ),
    )
    for (const link of links) assert.equal((await find(link))?.clicks, 20)
    const scope = { kind: 'workspace', workspaceId: home.workspace_id } as const
    const [day] = await at.store.read.reports.readDays(scope, 20_000, 21_000, { slots: false })
    assert.equal(day?.total.persons, 40)
    assert.equal((await rawClicksOf(at.store, scope)).length, 40)
  })
})
