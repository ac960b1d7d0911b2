import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Click } from '../../src/clicks/click.ts'
import type { ClickWriter } from '../../src/clicks/click-writer.ts'
import { UNLISTED_LABELS_MAX } from '../../src/clicks/store/known-labels.ts'
import type { Link } from '../../src/links/link.ts'
import { openWriterAt, takeClicks } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { rawClicksOf } from '../support/raw-clicks.ts'
import { describeStore } from '../support/store.ts'
import { addHome, addLink, NOW } from './samples.ts'

const DAY_MICROS = 86_400_000_000

describeStore('labels of visits', (at) => {
  async function open(t: { after(work: () => Promise<void>): void }) {
    const link = await addLink(at.store, await addHome(at.store))
    const writers = [await openWriterAt(at.place), await openWriterAt(at.place)] as const
    t.after(async () => {
      for (const writer of writers) await writer.close()
    })
    return { link, writers }
  }

  const labelled = (link: Link, label: string, click: Partial<Click> = {}) =>
    someClick({ at: NOW, link_seq: link.seq, label, ...click })

  const many = (link: Link, prefix: string, count: number) =>
    Array.from({ length: count }, (_, nth) => labelled(link, `${prefix}${nth}`))

  async function countsOf(link: Link): Promise<Readonly<Record<string, number>>> {
    const scope = { kind: 'link', workspaceId: link.workspace_id, linkSeq: link.seq } as const
    const options = { dimension: 'label', slots: false } as const
    const day = Math.floor(NOW / DAY_MICROS)
    const [tally] = await at.store.read.reports.readDays(scope, day, day, options)
    return Object.fromEntries(
      [...(tally?.values ?? [])].map(([label, { persons }]) => [label, persons]),
    )
  }

  async function labelsOf(link: Link): Promise<Readonly<Record<string, number>>> {
    const counted = await countsOf(link)
    const scope = { kind: 'link', workspaceId: link.workspace_id, linkSeq: link.seq } as const
    const raw = Map.groupBy(await rawClicksOf(at.store, scope), ({ label }) => label)
    const stored = Object.fromEntries([...raw].map(([label, clicks]) => [label, clicks.length]))
    assert.deepEqual(counted, stored, 'charts and raw clicks agree')
    return counted
  }

  const take = (writer: ClickWriter, clicks: readonly Click[], atMicros = NOW) =>
    takeClicks(writer, clicks, { atMicros })

  test('are counted by themselves up to 1,000, by all nodes the same', async (t) => {
    const { link, writers } = await open(t)
    const [first, second] = writers
    await take(first, [...many(link, 'a', UNLISTED_LABELS_MAX - 1), labelled(link, '')])
    await Promise.all([
      take(first, [labelled(link, 'last'), labelled(link, 'b0'), labelled(link, 'a0')]),
      take(second, [labelled(link, 'last'), labelled(link, 'b0'), labelled(link, 'a0')]),
    ])
    await take(second, [labelled(link, 'b1'), labelled(link, 'a1')])
    const counted = await labelsOf(link)
    assert.equal(counted['(other)'], 3)
    assert.deepEqual([counted.last, counted.a0, counted.a1, counted['']], [2, 3, 2, 1])
    assert.equal(Object.keys(counted).length, UNLISTED_LABELS_MAX + 2)
  })

  test('are always counted by themselves where the workspace lists them', async (t) => {
    const { link, writers } = await open(t)
    await at.store.write((stores) =>
      stores.labels.set(link.workspace_id, { parameter: 'via', labels: ['listed', 'Größe'] }),
    )
    await take(writers[0], many(link, 'a', UNLISTED_LABELS_MAX + 5))
    await take(writers[1], [labelled(link, 'listed'), labelled(link, 'Größe'), labelled(link, 'x')])
    const { listed, Größe, x, '(other)': other } = await labelsOf(link)
    assert.deepEqual([listed, Größe, x, other], [1, 1, undefined, 6])
  })

  test('of one workspace take no room from another', async (t) => {
    const { link, writers } = await open(t)
    const other = await addLink(at.store, await addHome(at.store))
    await take(writers[0], [...many(link, 'a', UNLISTED_LABELS_MAX), labelled(other, 'own')])
    await take(writers[0], [labelled(link, 'own')])
    assert.deepEqual(await labelsOf(other), { own: 1 })
    assert.equal((await labelsOf(link))['(other)'], 1)
  })

  test('make room for others after 90 days without clicks', async (t) => {
    const { link, writers } = await open(t)
    await take(writers[0], many(link, 'a', UNLISTED_LABELS_MAX))
    await take(writers[0], [labelled(link, 'a0')], NOW + 90 * DAY_MICROS)
    await take(writers[0], [labelled(link, 'early')], NOW + 90 * DAY_MICROS)
    await take(writers[0], [labelled(link, 'b'), labelled(link, 'a0')], NOW + 91 * DAY_MICROS)
    const { a0, early, b, '(other)': other } = await labelsOf(link)
    assert.deepEqual([a0, early, b, other], [3, undefined, 1, 1])
  })

  test('are forgotten with their workspace', async (t) => {
    const { link, writers } = await open(t)
    const [writer] = writers
    await take(writer, many(link, 'a', UNLISTED_LABELS_MAX))
    await writer.erase({ kind: 'workspace', workspaceId: link.workspace_id })
    await take(writer, [labelled(link, 'new')])
    const { new: added, '(other)': other } = await countsOf(link)
    assert.deepEqual([added, other], [1, undefined])
  })
})
