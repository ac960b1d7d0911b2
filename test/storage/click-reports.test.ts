import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { FullStore } from '../../src/app/database/stores.ts'
import { CLICK_DIMENSIONS, type Click, countVisits } from '../../src/clicks/click.ts'
import type { ClickWriter } from '../../src/clicks/click-writer.ts'
import type { ClickScope } from '../../src/clicks/report/day-of-clicks.ts'
import { dayOf } from '../../src/clicks/tally/click-day.ts'
import { OTHER_VALUE, VALUES_MAX } from '../../src/clicks/tally/day-tally.ts'
import type { Link } from '../../src/links/link.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { arbitraryClick } from '../support/arbitrary-clicks.ts'
import { openWriterAt, takeClicks } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { formSetting } from '../support/long-form.ts'
import { cases } from '../support/properties.ts'
import { SEED } from '../support/random.ts'
import { rawClicksOf } from '../support/raw-clicks.ts'
import { joinCapped, recount } from '../support/recount.ts'
import { describeStore, type StoreUnderTest } from '../support/store.ts'
import { addHome, addKeyspace, addLink } from './samples.ts'

const DAY_MICROS = 86_400_000_000
/** The standard error of a sketch of visitors with 4,096 registers, on each engine. */
const VISITORS_ERROR = 0.016
/** Ranges that cover every day of the arbitrary clicks. */
const RANGES = [
  [-5, 5],
  [19_999, 20_800],
] as const
const RANGE_OF_ALL = [[-5, 20_800]] as const
/** Over ClickHouse, each comparison reads one of so many pairs of subject and dimension, the next one others. */
const SHARE = formSetting('CLICKHOUSE_SHARE')

type Subject = { readonly scope: ClickScope; readonly has: (click: Click) => boolean }

/** Every dimension and filter that a report accepts. */
function subjectsOf(links: readonly Link[]): Subject[] {
  const byWorkspace = Map.groupBy(links, ({ workspace_id }) => workspace_id)
  const seqs = (some: readonly Link[]) => new Set(some.map(({ seq }) => seq))
  const ofLinks = links.map(({ workspace_id: workspaceId, seq: linkSeq }): Subject => {
    return {
      scope: { kind: 'link', workspaceId, linkSeq },
      has: ({ link_seq }) => link_seq === linkSeq,
    }
  })
  const ofOthers = [...byWorkspace].flatMap(([workspaceId, ofWorkspace]): Subject[] => {
    const all = seqs(ofWorkspace)
    const domains = Map.groupBy(ofWorkspace, ({ keyspace_id }) => keyspace_id)
    return [
      { scope: { kind: 'workspace', workspaceId }, has: ({ link_seq }) => all.has(link_seq) },
      ...[...domains].map(([keyspaceId, ofDomain]): Subject => {
        const some = seqs(ofDomain)
        return {
          scope: { kind: 'domain', workspaceId, keyspaceId },
          has: ({ link_seq }) => some.has(link_seq),
        }
      }),
    ]
  })
  return [...ofLinks, ...ofOthers]
}

let comparisons = SEED

/** Compares reports and raw clicks of every subject with a plain recount of the clicks. */
async function expectRecount(
  { store, place }: StoreUnderTest,
  links: readonly Link[],
  clicks: readonly Click[],
): Promise<void> {
  const [ranges, share] = place.clicks === undefined ? [RANGES, 1] : [RANGE_OF_ALL, SHARE]
  comparisons += 1
  for (const [nth, { scope, has }] of subjectsOf(links).entries()) {
    const own = clicks.filter(has)
    for (const [index, dimension] of [undefined, ...CLICK_DIMENSIONS].entries()) {
      if ((comparisons + nth + index) % share !== 0) continue
      // Of two subjects of a kind each dimension is read with its slots for one, and without them for the other.
      const slots = (nth + index) % 2 === 0
      const options = { ...(dimension && { dimension }), slots }
      const days = []
      for (const [from, to] of ranges) {
        days.push(...(await store.read.reports.readDays(scope, from, to, options)))
      }
      const expected = recount(own, options)
      assert.deepEqual(days, expected)
      const values = new Set(expected.flatMap((day) => [...day.values.keys()].slice(0, 2)))
      const some = []
      for (const [from, to] of ranges) {
        some.push(...(await store.read.reports.readDays(scope, from, to, { ...options, values })))
      }
      const isWanted = ([value]: [string, unknown]) => values.has(value)
      assert.deepEqual(
        some,
        expected.map((day) => ({ ...day, values: new Map([...day.values].filter(isWanted)) })),
      )
    }
    const raw = (await rawClicksOf(store, scope)).map(({ link_id, key, host, ...click }) => click)
    assert.deepEqual(sorted(joinCapped(raw)), sorted(joinCapped(own)))
    assert.deepEqual(await countsByLink(store, scope), recountByLink(own))
  }
}

type CountsByLink = Readonly<Record<number, readonly [persons: number, others: number]>>

async function countsByLink(store: FullStore, scope: ClickScope): Promise<CountsByLink> {
  const found: Record<number, [number, number]> = {}
  for (const [from, to] of RANGES) {
    const { reports } = store.read
    for await (const batch of reports.linkCounts(scope, from * DAY_MICROS, to * DAY_MICROS)) {
      for (const { linkSeq, persons, others } of batch) {
        const [personsBefore, othersBefore] = found[linkSeq] ?? [0, 0]
        found[linkSeq] = [personsBefore + persons, othersBefore + others]
      }
    }
  }
  return found
}

function recountByLink(clicks: readonly Click[]): CountsByLink {
  const byLink = [...Map.groupBy(clicks, ({ link_seq }) => link_seq)]
  return Object.fromEntries(
    byLink.map(([linkSeq, own]) => {
      const persons = countVisits(own.filter(({ flags }) => flags === 0))
      return [linkSeq, [persons, countVisits(own) - persons]]
    }),
  )
}

function sorted(clicks: readonly Click[]): readonly string[] {
  return clicks.map((click) => JSON.stringify(Object.entries(click).sort())).sort()
}

/** An evenly distributed number of 53 bits, as the service makes of an address and a user agent. */
function hashOf(visitor: number): number {
  const hash = createHash('sha256').update(String(visitor)).digest()
  return hash.readUInt32LE(0) + (hash.readUInt32LE(4) % 2 ** 21) * 2 ** 32
}

async function someLinks(store: FullStore): Promise<Link[]> {
  const home = await addHome(store)
  const homes = [home, home, await addKeyspace(store, home.workspace_id), await addHome(store)]
  const links: Link[] = []
  for (const home of homes) links.push(await addLink(store, home))
  return links
}

describeStore('click reports', (at, engine) => {
  async function open(): Promise<{ writer: ClickWriter; links: Link[] }> {
    return { writer: await openWriterAt(at.place), links: await someLinks(at.store) }
  }

  test('equal a plain recount of the clicks, whatever batches they came in', async (t) => {
    const { writer } = await open()
    t.after(() => writer.close())
    await fc.assert(
      fc.asyncProperty(
        fc.infiniteStream(fc.nat()),
        fc.array(fc.nat({ max: 90 }), { maxLength: 6 }),
        async (stream, sizes) => {
          const links = await someLinks(at.store)
          const seqs = links.map(({ seq }) => seq)
          const all: Click[] = []
          for (const size of sizes) {
            const seed = stream.next().value ?? 0
            const clicks = fc.sample(arbitraryClick(seqs), { numRuns: size, seed })
            await takeClicks(writer, clicks)
            all.push(...clicks)
          }
          await expectRecount(at, links, all)
        },
      ),
      cases(5),
    )
  })

  test('equal a recount while days are being unfolded, and after these are settled', async (t) => {
    const { writer, links } = await open()
    t.after(() => writer.close())
    const seqs = links.map(({ seq }) => seq)
    const all: Click[] = []
    const take = async (numRuns: number, seed: number) => {
      const clicks = fc.sample(arbitraryClick(seqs), { numRuns, seed })
      await takeClicks(writer, clicks)
      all.push(...clicks)
    }
    for (let round = 0; round < 20; round += 1) await take(round % 4 === 0 ? 600 : 40, SEED + round)
    const unsettled = await at.db.selectFrom('unsettled_days').selectAll().execute()
    // ClickHouse merges its sums by itself.
    assert.equal(unsettled.length > 0, at.place.clicks === undefined)
    await writer.maintain(30_000, undefined)
    assert.deepEqual(await at.db.selectFrom('unsettled_days').selectAll().execute(), [])
    await expectRecount(at, links, all)
    for (let round = 0; round < 3; round += 1) await take(100, SEED - round - 1)
    await expectRecount(at, links, all)
  })

  test('equal a recount when several drainers write at the same time', async (t) => {
    const { writer, links } = await open()
    const writers = [writer, await openWriterAt(at.place), await openWriterAt(at.place)]
    t.after(() => Promise.all(writers.map((writer) => writer.close())))
    const seqs = links.map(({ seq }) => seq)
    const all: Click[] = []
    await Promise.all(
      writers.map(async (writer, index) => {
        for (let round = 0; round < 8; round += 1) {
          const seed = SEED + index * 100 + round
          const clicks = fc.sample(arbitraryClick(seqs), { numRuns: 150, seed })
          all.push(...clicks)
          await takeClicks(writer, clicks)
        }
      }),
    )
    await expectRecount(at, links, all)
  })

  test('add the values above the limit together, and lose none', async (t) => {
    const { writer, links } = await open()
    t.after(() => writer.close())
    const [link] = links
    assert.ok(link)
    const count = 2 * VALUES_MAX
    for (let batch = 0; batch < 4; batch += 1) {
      const clicks = Array.from({ length: count / 4 }, (_, index) => {
        const number = batch * (count / 4) + index
        const at = number * 40_000_000
        return someClick({ at, link_seq: link.seq, referrer: `host-${number}.example` })
      })
      await takeClicks(writer, [
        ...clicks,
        someClick({ at: 1, link_seq: link.seq, referrer: 'often.example' }),
      ])
    }
    const { workspace_id: workspaceId, seq: linkSeq } = link
    for (const slots of [false, true]) {
      const scope = { kind: 'link', workspaceId, linkSeq } as const
      const options = { dimension: 'referrer', slots } as const
      const [day, ...others] = await at.store.read.reports.readDays(scope, 0, 0, options)
      assert.deepEqual(others, [])
      const values = [...(day?.values ?? [])]
      assert.equal(values.length, VALUES_MAX + 1)
      assert.equal(
        values.reduce((sum, [, { persons }]) => sum + persons, 0),
        count + 4,
      )
      assert.equal(day?.values.get('often.example')?.persons, 4)
      assert.ok(day?.values.has(OTHER_VALUE))
    }
  })

  test('estimate many visitors within three standard errors, whatever batches they came in', async (t) => {
    const { writer, links } = await open()
    t.after(() => writer.close())
    const [link] = links
    assert.ok(link)
    const visitors = 20_000
    const batch = 8_000
    for (const first of [0, 8_000, 4_000, 12_000]) {
      const clicks = Array.from({ length: batch }, (_, nth) =>
        someClick({ at: nth, link_seq: link.seq, visitor: hashOf(first + nth) }),
      )
      await takeClicks(writer, clicks)
    }
    const { workspace_id: workspaceId, seq: linkSeq, keyspace_id: keyspaceId } = link
    for (const scope of [
      { kind: 'link', workspaceId, linkSeq },
      { kind: 'domain', workspaceId, keyspaceId },
      { kind: 'workspace', workspaceId },
    ] as const) {
      const [day] = await at.store.read.reports.readDays(scope, 0, 0, { slots: false })
      assert.equal(day?.total.persons, 4 * batch)
      const error = Math.abs((day.visitors ?? 0) - visitors) / visitors
      assert.ok(error < 3 * VISITORS_ERROR, `${scope.kind}: ${day.visitors}`)
    }
  })

  test('count rules and labels on a day that was divided into parts before it had any', async (t) => {
    const { writer, links } = await open()
    t.after(() => writer.close())
    const [link] = links
    assert.ok(link)
    const clicksOf = (batch: number, ruled: Partial<Click>) =>
      Array.from({ length: 300 }, (_, nth) => {
        const at = (batch * 300 + nth) * 90_000_000
        const referrer = `host-${batch}-${nth}.example`
        return someClick({ at, link_seq: link.seq, visitor: 7, referrer, ...ruled })
      })
    const all: Click[] = []
    for (const [batch, ruled] of [
      {},
      { rule: 'ab', variant: 'A' },
      { rule: 'phones' },
      { label: 'newsletter' },
    ].entries()) {
      const clicks = clicksOf(batch, ruled)
      await takeClicks(writer, clicks)
      all.push(...clicks)
      await expectRecount(at, links, all)
    }
    await writer.maintain(30_000, undefined)
    await expectRecount(at, links, all)
  })

  test('keep all counts when the raw clicks of old days are deleted', async (t) => {
    const { writer, links } = await open()
    t.after(() => writer.close())
    const [link] = links
    assert.ok(link)
    const today = 20_500
    const days = [today - 31, today - 30, today - 1, today, today + 3]
    const clicks = days.map((day) => someClick({ at: day * DAY_MICROS, link_seq: link.seq }))
    await takeClicks(writer, clicks)
    await writer.maintain(today, today - 30)
    const { workspace_id: workspaceId, seq: linkSeq } = link
    const scope = { kind: 'link', workspaceId, linkSeq } as const
    assert.deepEqual(
      (await rawClicksOf(at.store, scope)).map(({ at }) => at / DAY_MICROS),
      days.slice(1),
    )
    const counted = await at.store.read.reports.readDays(scope, 20_000, 21_000, { slots: false })
    assert.equal(counted.length, days.length)
    // A click that arrives after that is stored like any other, and deleted at the next run.
    await takeClicks(writer, clicks.slice(0, 1))
    assert.equal((await rawClicksOf(at.store, scope)).length, days.length)
    await writer.maintain(today, undefined)
    assert.equal((await rawClicksOf(at.store, scope)).length, days.length)
    await writer.maintain(today, today - 30)
    assert.equal((await rawClicksOf(at.store, scope)).length, days.length - 1)
  })

  if (engine.name !== 'PostgreSQL') return

  test("keep raw clicks that are old only by one node's clock", async (t) => {
    const { writer, links } = await open()
    t.after(() => writer.close())
    const [link] = links
    assert.ok(link)
    const today = dayOf(systemClock().nowMicros())
    const days = [today - 32, today - 29, today]
    await takeClicks(
      writer,
      days.map((day) => someClick({ at: day * DAY_MICROS, link_seq: link.seq })),
    )
    await writer.maintain(today + 365, today + 365 - 30)
    const { workspace_id: workspaceId, seq: linkSeq } = link
    const kept = await rawClicksOf(at.store, { kind: 'link', workspaceId, linkSeq })
    assert.deepEqual(
      kept.map(({ at }) => at / DAY_MICROS),
      days.slice(1),
    )
  })
})
