import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { importedClicksInCommand, importedClicksOnNode } from '../../src/app/composition/imports.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { NOWHERE } from '../../src/clicks/click.ts'
import type { ImportedClick } from '../../src/imports/imported-clicks.ts'
import { expectStatus } from '../support/api.ts'
import { createLink } from '../support/links.ts'
import { onEachEngine, type Stage } from '../support/on-each-engine.ts'

const DAY_MICROS = 86_400_000_000
const HOUR_MICROS = 3_600_000_000
/** 2026-10-01. */
const DAY = 20_727
const PERIOD = 'from=2026-10-01&to=2026-10-03'
/** Long before the clicks that are kept for exports: 2021-01-01. */
const OLD_DAY = 18_628

const tests = (stage: Stage) => {
  async function newLink(key: string) {
    const link = await createLink(stage.api, { key })
    const { workspace_id: workspaceId, id } = link
    const found = await stage.service.instance.store.read.links.findById(workspaceId, id)
    return { ...link, workspaceId, linkSeq: found?.seq ?? 0 }
  }

  const places = async () => (address: string) => ({
    ...NOWHERE,
    country: address === '192.0.2.1' ? 'FR' : '',
  })
  const onNode = () => importedClicksOnNode(stage.service.instance, places)
  const inCommand = () =>
    importedClicksInCommand(
      readConfig({ ...stage.service.place.env }),
      stage.service.instance,
      places,
      (error) => assert.fail(String(error)),
    )

  async function importWith(
    clicks: ReturnType<typeof onNode>,
    workspaceId: string,
    imported: readonly ImportedClick[],
  ) {
    const of = { importId: randomUUID(), workspaceId }
    const prepared = await clicks.prepare(of, imported)
    await stage.service.instance.store.write((stores) => clicks.spool(stores, of, prepared))
    const finished = await clicks.finish(of, AbortSignal.timeout(60_000))
    return { ...finished, refused: prepared.refused.length }
  }

  async function show(path: string) {
    return expectStatus(await stage.api.get(path), 200).body
  }

  test('are counted by a running node, and shown under their own dates', async () => {
    const { id, linkSeq, workspaceId } = await newLink('moved')
    const record = { resume: '', ref: '' }
    const visit = {
      ...record,
      kind: 'click',
      user_agent:
        'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
      referrer: 'News.Example.com',
      country: '',
      is_bot: false,
    } as const
    const at = DAY * DAY_MICROS + 5 * HOUR_MICROS
    const count = { ...record, kind: 'count', interval: 'hour' } as const
    const { opening, openingLinks, refused } = await importWith(onNode(), workspaceId, [
      { linkSeq, kind: 'total', clicks: 100, lastClick: null },
      { linkSeq, kind: 'click', click: { ...visit, at, address: '192.0.2.1' } },
      { linkSeq, kind: 'click', click: { ...visit, at: at + 1, address: '192.0.2.1' } },
      {
        linkSeq,
        kind: 'click',
        click: { ...visit, at: at + 2, address: '192.0.2.2', country: 'DE' },
      },
      { linkSeq, kind: 'count', count: { ...count, at: at + DAY_MICROS, count: 40 } },
      { linkSeq, kind: 'count', count: { ...count, at: OLD_DAY * DAY_MICROS, count: 7 } },
      { linkSeq, kind: 'click', click: { ...visit, at: 4e15, address: null } },
    ])
    assert.deepEqual(
      { opening, openingLinks, refused },
      { opening: 50, openingLinks: 1, refused: 1 },
    )

    const { clicks, last_click } = await show(`/links/${id}`)
    assert.equal(clicks, 100)
    assert.equal(last_click, Math.floor((at + DAY_MICROS) / 1e6))
    const report = await show(`/links/${id}/clicks?${PERIOD}`)
    assert.equal(report.opening, 50)
    assert.deepEqual(report.total, { clicks: 43, bots: 0, visitors: null })
    assert.deepEqual(
      report.data.map(({ clicks, visitors }: { clicks: number; visitors: number | null }) => ({
        clicks,
        visitors,
      })),
      [
        { clicks: 3, visitors: 2 },
        { clicks: 40, visitors: null },
      ],
    )
    const hours = await show(`/links/${id}/clicks?${PERIOD}&interval=hour`)
    assert.equal(hours.data[24 + 5].clicks, 40)
    const places = await show(`/links/${id}/clicks?${PERIOD}&group_by=country`)
    assert.deepEqual(places.data, [
      { value: null, clicks: 40 },
      { value: 'FR', clicks: 2 },
      { value: 'DE', clicks: 1 },
    ])
    const both = await show(`/links/${id}/clicks?${PERIOD}&country=FR&group_by=referrer`)
    assert.equal(both.opening, null)
    assert.deepEqual(both.data, [{ value: 'news.example.com', clicks: 2 }])
    const old = await show(`/links/${id}/clicks?from=2021-01-01&to=2021-01-02`)
    assert.deepEqual(old.total, { clicks: 7, bots: 0, visitors: null })
    assert.equal((await show(`/clicks?${PERIOD}`)).opening, 50)

    const exported = await stage.api.get(`/links/${id}/clicks/export?format=ndjson&${PERIOD}`)
    const lines: { count: number; visitor: string | null; flags: string[] }[] = exported.body
      .trim()
      .split('\n')
      .map((line: string) => JSON.parse(line))
    assert.deepEqual(
      lines.map((line) => [line.count, line.visitor === null, line.flags.length]),
      [
        [1, false, 0],
        [1, false, 0],
        [1, false, 0],
        [40, true, 0],
      ],
    )
  })

  test('are counted by a command, and change nothing when it finishes twice', async () => {
    const { id, linkSeq, workspaceId } = await newLink('undated')
    const clicks = inCommand()
    const of = { importId: randomUUID(), workspaceId }
    const total = { linkSeq, kind: 'total', clicks: 12, lastClick: DAY * DAY_MICROS } as const
    const prepared = await clicks.prepare(of, [total])
    await stage.service.instance.store.write((stores) => clicks.spool(stores, of, prepared))
    const signal = AbortSignal.timeout(60_000)
    const finished = [await clicks.finish(of, signal), await inCommand().finish(of, signal)]
    assert.deepEqual(finished, Array(2).fill({ opening: 12, openingLinks: 1 }))
    const link = await show(`/links/${id}`)
    assert.deepEqual([link.clicks, link.last_click], [12, (DAY * DAY_MICROS) / 1e6])
    const sorted = await show('/links?sort=-clicks')
    assert.deepEqual(
      sorted.data.map(({ clicks }: { clicks: number }) => clicks),
      [100, 12],
    )
  })

  test('are removed when the import is given up', async () => {
    const { id, linkSeq, workspaceId } = await newLink('given-up')
    const of = { importId: randomUUID(), workspaceId }
    const clicks = onNode()
    const total = { linkSeq, kind: 'total', clicks: 12, lastClick: null } as const
    const prepared = await clicks.prepare(of, [total])
    const { store } = stage.service.instance
    await store.write((stores) => clicks.spool(stores, of, prepared))
    await clicks.discard(of)
    assert.equal(await store.read.clickSpools.find(of.importId), undefined)
    assert.deepEqual(await clicks.finish(of, AbortSignal.timeout(60_000)), {
      opening: 0,
      openingLinks: 0,
    })
    assert.equal((await show(`/links/${id}`)).clicks, 0)
  })
}

/** Single clicks are kept of `DAY`, and not of `OLD_DAY`. */
onEachEngine('imported clicks', tests, { TERSE_CLICK_RETENTION_DAYS: '1500' })
