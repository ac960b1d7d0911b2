import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { OpenedStore } from '../../src/app/database/opened-store.ts'
import { storedHistoryOf } from '../../src/app/database/stored-history.ts'
import type { FullStore } from '../../src/app/database/stores.ts'
import { CLICK_DIMENSIONS, type Click } from '../../src/clicks/click.ts'
import type { ClickWriter } from '../../src/clicks/click-writer.ts'
import { ClickMover } from '../../src/clicks/move/click-mover.ts'
import { moveClicks } from '../../src/clicks/move/move-clicks.ts'
import type { ClickScope } from '../../src/clicks/report/day-of-clicks.ts'
import { openClickDatabase } from '../../src/clicks/store/clickhouse/click-database.ts'
import { MovedDays } from '../../src/clicks/store/clickhouse/moved-days.ts'
import { OPENING_AT, startOfDay } from '../../src/clicks/tally/click-day.ts'
import type { Link } from '../../src/links/link.ts'
import type { ClickHouse } from '../../src/storage/clickhouse/clickhouse.ts'
import { addHome, addKeyspace, addLink } from '../storage/samples.ts'
import { arbitraryClick } from '../support/arbitrary-clicks.ts'
import { openWriterAt, takeClicks } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { formSetting } from '../support/long-form.ts'
import { SEED } from '../support/random.ts'
import { rawClicksOf } from '../support/raw-clicks.ts'
import { openAt } from '../support/store.ts'

/** Days that the arbitrary clicks have, and that of opening balances. */
const RANGES = [
  [-100_000, -100_000],
  [0, 5],
  [19_999, 20_900],
] as const
const DAY = 20_778
/** Each comparison reads one of so many pairs of subject and dimension, the next one others. */
const SHARE = formSetting('CLICKHOUSE_SHARE')

class Crash extends Error {}

for (const engine of ENGINES) {
  describe(`moving clicks from ${engine.name}`, () => {
    let place: Place
    /** The same database, with clicks in it. */
    let plain: Omit<Place, 'clicks'>
    let stored: OpenedStore
    let moved: OpenedStore
    let writer: ClickWriter
    let own: ClickWriter
    let clickhouse: ClickHouse
    let links: Link[]

    before(async () => {
      place = await engine.createMigratedPlace()
      assert.ok(place.clicks)
      const { clicks, ...rest } = place
      plain = rest
      stored = await openAt(plain)
      moved = await openAt(place)
      writer = await openWriterAt(plain, { rawPerMinute: 20 })
      own = await openWriterAt(place)
      clickhouse = openClickDatabase(clicks, { timeoutMs: 60_000, connectionsMax: 4 })
      const home = await addHome(stored.store)
      const other = await addKeyspace(stored.store, home.workspace_id)
      const homes = [home, home, other, await addHome(stored.store)]
      links = []
      for (const each of homes) links.push(await addLink(stored.store, each))
    })
    after(async () => {
      await Promise.all([writer.close(), own.close(), clickhouse.close()])
      await Promise.all([stored.store.close(), moved.store.close()])
      await place.remove()
    })

    let ticks = 0
    function nowMicros(): number {
      ticks += 1
      return startOfDay(DAY + 2) + ticks
    }
    function source() {
      return storedHistoryOf(stored, plain, undefined)
    }
    function move({ hasSwitched = true } = {}) {
      return moveClicks({
        db: stored.db,
        source: source(),
        clickhouse,
        hasSwitched,
        nowMicros,
        signal: new AbortController().signal,
        onWait: () => {},
        onProgress: () => {},
      })
    }

    function scopes(): ClickScope[] {
      const byLink = links.map((link): ClickScope => {
        return { kind: 'link', workspaceId: link.workspace_id, linkSeq: link.seq }
      })
      const others = links.flatMap((link): ClickScope[] => [
        { kind: 'domain', workspaceId: link.workspace_id, keyspaceId: link.keyspace_id },
        { kind: 'workspace', workspaceId: link.workspace_id },
      ])
      return [...byLink, ...others]
    }

    /** Everything that charts and exports show. */
    async function shown(store: FullStore): Promise<unknown[]> {
      const found: unknown[] = []
      for (const [nth, scope] of scopes().entries()) {
        for (const [index, dimension] of [undefined, ...CLICK_DIMENSIONS].entries()) {
          if ((comparisons + nth + index) % SHARE !== 0) continue
          const options = { ...(dimension && { dimension }), slots: true }
          for (const [from, to] of RANGES) {
            const days = await store.read.reports.readDays(scope, from, to, options)
            found.push(
              days.map(({ values, ...day }) => ({
                scope,
                dimension,
                ...day,
                values: [...values].sort(),
              })),
            )
          }
        }
        const raw = await rawClicksOf(store, scope)
        found.push(
          raw
            .filter(({ at }) => at >= 0)
            .map((click) => JSON.stringify(Object.entries(click).sort()))
            .sort(),
        )
      }
      return found
    }

    let comparisons = SEED
    async function expectEqual(): Promise<void> {
      comparisons += 1
      assert.deepEqual(await shown(moved.store), await shown(stored.store))
    }

    function some(seed: number, length: number): Click[] {
      const seqs = links.map(({ seq }) => seq)
      return (
        fc.sample(fc.array(arbitraryClick(seqs), { minLength: length, maxLength: length }), {
          numRuns: 1,
          seed: SEED + seed,
        })[0] ?? []
      )
    }

    test('copies what charts and exports show, and again nothing', async () => {
      for (let batch = 0; batch < 6; batch += 1) await takeClicks(writer, some(batch, 120))
      const [link] = links
      assert.ok(link)
      await takeClicks(writer, [
        someClick({ at: OPENING_AT, link_seq: link.seq, count: 77, visitor: 0 }),
        ...Array.from({ length: 1_500 }, (_, nth) =>
          someClick({
            at: startOfDay(DAY) + nth,
            link_seq: link.seq,
            visitor: nth + 1,
            referrer: `host-${nth}.example`,
          }),
        ),
      ])
      await writer.maintain(DAY + 1, undefined)
      const first = await move()
      assert.deepEqual(first.differences, [])
      assert.ok(first.moved > 4)
      await expectEqual()
      const again = await move()
      assert.deepEqual({ moved: again.moved, left: again.left }, { moved: 0, left: 0 })
      assert.deepEqual(again.differences, [])
    })

    test('adds to days that have changed, wherever it is interrupted', async () => {
      for (let step = 0; ; step += 1) {
        if (step % 5 === 0) await takeClicks(writer, some(100 + step, 40))
        let calls = 0
        const crashing = new Proxy(new MovedDays(clickhouse), {
          get(target, name) {
            const method = Reflect.get(target, name)
            if (typeof method !== 'function') return method
            return async (...args: unknown[]) => {
              calls += 1
              if (calls === step && step % 2 === 0) throw new Crash()
              const result = await method.apply(target, args)
              if (calls === step) throw new Crash()
              return result
            }
          },
        })
        const mover = new ClickMover({
          source: source(),
          moved: crashing,
          nowMicros,
        })
        const running = mover.run({
          beforeDay: Number.POSITIVE_INFINITY,
          signal: new AbortController().signal,
          onProgress: () => {},
        })
        const isInterrupted = await running.then(
          () => false,
          (error) => error instanceof Crash || Promise.reject(error),
        )
        if (!isInterrupted && step > 0) break
      }
      assert.deepEqual((await move()).differences, [])
      await expectEqual()
    })

    test('adds to days on which ClickHouse has counted clicks itself', async () => {
      const [, link] = links
      assert.ok(link)
      const at = startOfDay(DAY) + 7_000_000
      const [before] = await dayOfLink(link)
      await takeClicks(own, [someClick({ at, link_seq: link.seq, visitor: 5, country: 'SE' })])
      await takeClicks(writer, [someClick({ at, link_seq: link.seq, visitor: 6, country: 'SE' })])
      assert.deepEqual((await move()).differences, [])
      const [day] = await dayOfLink(link)
      const sweden = (before?.values.get('SE')?.persons ?? 0) + 2
      assert.equal(day?.values.get('SE')?.persons, sweden)
      assert.equal(day?.total.persons, (before?.total.persons ?? 0) + 2)
    })

    function dayOfLink({ workspace_id: workspaceId, seq: linkSeq }: Link) {
      const options = { dimension: 'country', slots: false } as const
      return moved.store.read.reports.readDays(
        { kind: 'link', workspaceId, linkSeq },
        DAY,
        DAY,
        options,
      )
    }

    test('leaves the days that may still change, until the service counts in ClickHouse', async () => {
      const [, link] = links
      assert.ok(link)
      for (const day of [DAY + 1, DAY + 2]) {
        await takeClicks(writer, [
          someClick({ at: startOfDay(day), link_seq: link.seq, visitor: 6 }),
        ])
      }
      const first = await move({ hasSwitched: false })
      assert.deepEqual({ moved: first.moved, left: first.left }, { moved: 0, left: 2 })
      const second = await move()
      assert.deepEqual({ moved: second.moved, left: second.left }, { moved: 2, left: 0 })
    })

    test('reports what differs', async () => {
      const [, , link] = links
      assert.ok(link)
      await clickhouse.command(
        `delete from click_counts where scope = 0 and subject = ${link.seq} and day = ${DAY}`,
        { settings: { lightweight_deletes_sync: '1' } },
      )
      const { differences } = await move()
      assert.equal(differences.length, 1)
      const [difference] = differences
      assert.equal(difference?.day, DAY)
      assert.equal(difference?.kind, 'link')
      assert.equal(difference?.target, 0)
      assert.match(difference?.name ?? '', new RegExp(`/${link.key}$`))
    })

    test('erases what was moved of links that are deleted', async () => {
      const [, , link] = links
      assert.ok(link)
      await stored.db.deleteFrom('links').where('seq', '=', link.seq).execute()
      await writer.erase({ kind: 'links', linkSeqs: [link.seq] })
      assert.deepEqual((await move()).differences, [])
      const scope = { kind: 'link', workspaceId: link.workspace_id, linkSeq: link.seq } as const
      for (const [from, to] of RANGES) {
        assert.deepEqual(
          await moved.store.read.reports.readDays(scope, from, to, { slots: false }),
          [],
        )
      }
      const rows = await clickhouse.rows(
        `select 1 from moved_tallies where scope = 0 and subject = ${link.seq}`,
      )
      assert.deepEqual(rows, [])
    })
  })
}
