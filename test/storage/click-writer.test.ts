import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { CLICK_FLAGS, cappedClick } from '../../src/clicks/click.ts'
import { ClickColumns } from '../../src/clicks/click-columns.ts'
import type { ClickWriter } from '../../src/clicks/click-writer.ts'
import type { JournalPosition } from '../../src/clicks/store/click-store.ts'
import { rawClicksFile, rawClicksFolder } from '../../src/clicks/store/sqlite/raw-click-files.ts'
import type { Link } from '../../src/links/link.ts'
import { clicksOf } from '../support/click-frames.ts'
import { openWriterAt, takeClicks } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { SQLITE } from '../support/engines.ts'
import { rawClicksOf } from '../support/raw-clicks.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { addHome, addLink, NOW, unique } from './samples.ts'

describeStore('the click writer', (at, engine) => {
  const move = (
    writer: ClickWriter,
    journalId: string,
    from: JournalPosition | undefined,
    to: JournalPosition,
  ) => writer.write({ journalId, from, to, clicks: new ClickColumns(), atMicros: NOW })
  const find = (link: Link) => at.store.read.links.findById(link.workspace_id, link.id)
  const rawOf = ({ workspace_id: workspaceId, seq: linkSeq }: Link) =>
    rawClicksOf(at.store, { kind: 'link', workspaceId, linkSeq })

  test('advances a journal’s position from its current value only', async (t) => {
    const writer = await openWriterAt(at.place)
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

  if (engine.name === 'SQLite') {
    test('syncs the log of terse.db before clicks.db records what it has seen there', async (t) => {
      const link = await addLink(at.store, await addHome(at.store))
      const writer = await openWriterAt(at.place)
      t.after(() => writer.close())
      const database = new DatabaseSync(`${at.place.dataDir}/clicks.db`)
      t.after(() => database.close())
      const seen = () => database.prepare('select links_seen from file_marks').get()?.links_seen
      const seenAtSync: unknown[] = []
      t.mock.method(fs, 'fdatasyncSync', () => {
        seenAtSync.push(seen())
        if (seenAtSync.length === 1) throw Object.assign(new Error('failed'), { code: 'EIO' })
      })
      syncBuiltinESMExports()
      t.after(() => {
        t.mock.restoreAll()
        syncBuiltinESMExports()
      })
      const before = seen()
      const take = () => takeClicks(writer, [someClick({ at: NOW, link_seq: link.seq })])
      await assert.rejects(take(), { code: 'EIO' })
      assert.equal(seen(), before)
      await take()
      assert.equal(seen(), link.seq)
      await take()
      assert.deepEqual(seenAtSync, [before, before], 'and once for what it has seen')
    })
  }

  test('accepts a batch from one of several drainers that read the same clicks', async (t) => {
    const link = await addLink(at.store, await addHome(at.store))
    const writers = await Promise.all([1, 2, 3].map(() => openWriterAt(at.place)))
    t.after(() => Promise.all(writers.map((writer) => writer.close())))
    const journalId = unique('journal')
    const steps = [undefined, { segment: 1, offset: 5 }, { segment: 1, offset: 9 }]
    for (const [index, to] of steps.slice(1).entries()) {
      const clicks = ClickColumns.of(
        [1, 2, 3].map((n) => someClick({ at: NOW + n, link_seq: link.seq })),
      )
      const batch = {
        journalId,
        from: steps[index],
        to: to as JournalPosition,
        clicks,
        atMicros: 1,
      }
      const taken = await Promise.all(writers.map((writer) => writer.write(batch)))
      assert.equal(taken.filter(Boolean).length, 1)
    }
    assert.equal((await find(link))?.clicks, 6)
    assert.equal((await rawOf(link)).length, 6)
  })

  test("counts only people's clicks, and stores all", async () => {
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

  test('stores more clicks than fit into one statement, and an empty batch', async () => {
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

  test('stores clicks of links that were deleted before, and of any day', async () => {
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

  test('adds up what several processes count at the same time', async (t) => {
    const home = await addHome(at.store)
    const links = [await addLink(at.store, home), await addLink(at.store, home)]
    const writers = [await openWriterAt(at.place), await openWriterAt(at.place)]
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

  test('stores the clicks beyond the cap as one row per link and minute', async () => {
    const home = await addHome(at.store)
    const [flooded, other] = [await addLink(at.store, home), await addLink(at.store, home)]
    const MINUTE = Math.floor(NOW / 60_000_000) * 60_000_000
    const person = someClick({ link_seq: flooded.seq, at: MINUTE })
    await at.take([
      person,
      cappedClick(flooded.seq, MINUTE + 1, 4),
      cappedClick(other.seq, MINUTE + 2, 2),
      cappedClick(flooded.seq, MINUTE + 3, 10_000),
      cappedClick(flooded.seq, MINUTE + 60_000_000, 3),
    ])
    same(await find(flooded), { ...flooded, clicks: 1, last_click: MINUTE })
    same(await find(other), other)
    const named = { link_id: flooded.id, key: flooded.key, host: home.domain }
    same(
      await rawOf(flooded),
      [
        person,
        cappedClick(flooded.seq, MINUTE + 1, 10_004),
        cappedClick(flooded.seq, MINUTE + 60_000_000, 3),
      ].map((click) => ({ ...click, ...named })),
    )
    const scope = { kind: 'workspace', workspaceId: home.workspace_id } as const
    const [day] = await at.store.read.reports.readDays(scope, 20_000, 21_000, {
      slots: false,
      dimension: 'country',
    })
    assert.deepEqual(day?.total, { persons: 1, others: 10_009, slots: [] })
    assert.deepEqual([...(day?.values ?? [])], [['', { persons: 1, others: 10_009, slots: [] }]])
  })

  test("caps a workspace's rows per minute, and counts every click", async (t) => {
    const links = [
      await addLink(at.store, await addHome(at.store)),
      await addLink(at.store, await addHome(at.store)),
    ]
    let refused = 0
    const writer = await openWriterAt(at.place, {
      rawPerMinute: 5,
      onRawRefused: (visits) => {
        refused += visits
      },
    })
    t.after(() => writer.close())
    const MINUTE = Math.floor(NOW / 60_000_000) * 60_000_000
    const clicksOn = (linkSeq: number, count: number, minute = MINUTE) =>
      Array.from({ length: count }, (_, n) => someClick({ link_seq: linkSeq, at: minute + n }))
    const [first, second] = links.map(({ seq }) => seq) as [number, number]
    await takeClicks(writer, clicksOn(first, 4))
    await takeClicks(writer, [...clicksOn(first, 9), ...clicksOn(second, 3)])
    await takeClicks(writer, [cappedClick(first, MINUTE + 9, 70), ...clicksOn(second, 1)])
    await takeClicks(writer, clicksOn(first, 2, MINUTE + 60_000_000))
    assert.deepEqual(
      await Promise.all(links.map(async (link) => (await rawOf(link)).length)),
      [7, 4],
    )
    assert.deepEqual(
      await Promise.all(links.map(async (link) => (await find(link))?.clicks)),
      [15, 4],
    )
    assert.equal(refused, 8 + 70)
  })

  test('does not charge a workspace for the rows of a batch that was rejected', async (t) => {
    const link = await addLink(at.store, await addHome(at.store))
    const writer = await openWriterAt(at.place, { rawPerMinute: 4 })
    t.after(() => writer.close())
    const clicks = ClickColumns.of(
      [1, 2, 3].map((n) => someClick({ link_seq: link.seq, at: NOW + n })),
    )
    const [from, to] = [
      { segment: 1, offset: 5 },
      { segment: 1, offset: 9 },
    ]
    const batch = { journalId: unique('journal'), from, to, clicks, atMicros: 1 }
    for (let attempt = 0; attempt < 3; attempt += 1) assert.equal(await writer.write(batch), false)
    await takeClicks(writer, clicksOf(clicks))
    assert.equal((await rawOf(link)).length, 3)
  })

  if (engine !== SQLITE) return

  test('continues a day file that an older release has started', async (t) => {
    const home = await addHome(at.store)
    const link = await addLink(at.store, home)
    const writers = [await openWriterAt(at.place), await openWriterAt(at.place)]
    t.after(() => Promise.all(writers.map((writer) => writer.close())))
    const DAY = 20_400
    const clickAt = (n: number) => someClick({ link_seq: link.seq, at: DAY * 86_400_000_000 + n })
    const [first, second] = writers as [ClickWriter, ClickWriter]
    await takeClicks(first, [clickAt(1)])
    const file = rawClicksFile(rawClicksFolder(at.place.dataDir), DAY)
    const older = new DatabaseSync(file)
    for (const column of ['count', 'rule', 'variant', 'label', 'region', 'city']) {
      older.exec(`alter table clicks drop column ${column}`)
    }
    older.close()
    assert.deepEqual(
      (await rawOf(link)).map(({ count, rule, variant, label }) => [count, rule, variant, label]),
      [[1, '', '', '']],
    )
    const fromMicros = DAY * 86_400_000_000
    const { feed } = at.store.read
    const shown = {
      ...{ workspaceId: home.workspace_id, linkSeqs: undefined, keyspaceIds: undefined },
      ...{ filter: new Map([['rule', new Set([''])]] as const), linkFilter: new Map() },
      bots: 'include',
    } as const
    const position = await feed.end(fromMicros)
    const { latest } = await feed.recent(position, shown, { fromMicros, latestMax: 9 })
    assert.deepEqual(
      latest.map(({ at }) => at),
      [clickAt(1).at],
    )
    const ruled = { ...clickAt(2), rule: 'ab', variant: 'A', label: 'newsletter' }
    await takeClicks(second, [ruled, cappedClick(link.seq, clickAt(3).at, 7)])
    assert.deepEqual(
      (await rawOf(link)).map(({ count, rule, variant, label }) => [count, rule, variant, label]),
      [
        [1, '', '', ''],
        [1, 'ab', 'A', 'newsletter'],
        [7, '', '', ''],
      ],
    )
  })
})
