import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { OpenedStore } from '../../../src/app/database/opened-store.ts'
import { storedHistoryOf } from '../../../src/app/database/stored-history.ts'
import type { FullStore } from '../../../src/app/database/stores.ts'
import { CLICK_DIMENSIONS, type Click, type ClickDimension } from '../../../src/clicks/click.ts'
import type { ClickWriter } from '../../../src/clicks/click-writer.ts'
import type { ClickHistory } from '../../../src/clicks/move/click-history.ts'
import { moveClicks } from '../../../src/clicks/move/move-clicks.ts'
import { returnClicks } from '../../../src/clicks/move/return-clicks.ts'
import type { ClickScope } from '../../../src/clicks/report/day-of-clicks.ts'
import { openClickDatabase } from '../../../src/clicks/store/clickhouse/click-database.ts'
import { OwnDays } from '../../../src/clicks/store/clickhouse/own-days.ts'
import { openPostgresReturnTarget } from '../../../src/clicks/store/postgres/return-target.ts'
import { findOrigin, type ReturnTarget } from '../../../src/clicks/store/returned-days.ts'
import { openSqliteReturnTarget } from '../../../src/clicks/store/sqlite/return-target.ts'
import { startOfDay } from '../../../src/clicks/tally/click-day.ts'
import type { Link } from '../../../src/links/link.ts'
import type { ClickHouse } from '../../../src/storage/clickhouse/clickhouse.ts'
import { addHome, addKeyspace, addLink } from '../../storage/samples.ts'
import { arbitraryClick } from '../arbitrary-clicks.ts'
import { openWriterAt, takeClicks } from '../click-writers.ts'
import { type Engine, type Place, SQLITE } from '../engines.ts'
import { SEED } from '../random.ts'
import { rawClicksOf } from '../raw-clicks.ts'
import { openAt } from '../store.ts'

/** The day of opening balances, and those of arbitrary clicks: for SQLite, which looks at each day of a range. */
const RANGES = [
  [-100_000, -100_000],
  [-1, 1],
  [20_000, 20_001],
  [20_778, 20_780],
] as const
/** For ClickHouse, where each query takes a while. */
const ONE_RANGE = [[-100_000, 20_780]] as const
const SOME_DIMENSIONS = ['country', 'source', 'label'] as const
/** The last day of arbitrary clicks. */
export const DAY = 20_778

/** A main database and a ClickHouse, between which clicks are moved. */
export type Moves = {
  readonly place: Place
  /** The same without ClickHouse. */
  readonly plain: Omit<Place, 'clicks'>
  /** Counts in the main database, and reads it. */
  readonly writer: ClickWriter
  readonly stored: OpenedStore
  /** Counts in ClickHouse, and reads it. */
  readonly own: ClickWriter
  readonly moved: OpenedStore
  readonly clickhouse: ClickHouse
  /** Of three domains in two workspaces; the first two of the same. */
  readonly links: readonly Link[]
  /** Increases with each call. */
  nowMicros(): number
  source(): Promise<ClickHistory>
  openTarget(): ReturnTarget
  move(options?: { hasSwitched?: boolean }): ReturnType<typeof moveClicks>
  moveBack(options?: {
    hasSwitched?: boolean
    target?: ReturnTarget
    clickhouse?: ClickHouse
  }): ReturnType<typeof returnClicks>
  /** Counts clicks on one side. */
  take(side: ClickWriter, clicks: readonly Click[]): Promise<void>
  /** Expects that charts and exports of a side show all clicks that either side has counted. */
  expectAll(side: OpenedStore): Promise<void>
  some(seed: number, length: number): Click[]
  /** Deletes a link, or a workspace with its links, in the main database, as the service does while it counts there. */
  erase(nth: number, kind: 'link' | 'workspace'): Promise<void>
  /** Folds and drops single clicks of earlier days, except in the main database. */
  dropBefore(day: number): Promise<void>
  close(): Promise<void>
}

export async function openMoves(engine: Engine): Promise<Moves> {
  const place = await engine.createMigratedPlace()
  assert.ok(place.clicks)
  const { clicks, ...plain } = place
  const stored = await openAt(plain)
  const moved = await openAt(place)
  const writer = await openWriterAt(plain)
  const own = await openWriterAt(place)
  const clickhouse = openClickDatabase(clicks, { timeoutMs: 60_000, connectionsMax: 4 })
  const links = await addLinks(stored.store)
  // Counts all clicks, and moves none.
  const reference = await SQLITE.createMigratedPlace()
  const all = await openAt(reference)
  const counting = await openWriterAt(reference)
  const sameLinks = await addLinks(all.store)

  let ticks = 0
  function nowMicros(): number {
    ticks += 1
    return startOfDay(DAY + 2) + ticks
  }

  const calmly = { signal: new AbortController().signal, onWait() {}, onProgress() {} }

  async function source(): Promise<ClickHistory> {
    return storedHistoryOf(stored, plain, await findOrigin(stored.db, new OwnDays(clickhouse)))
  }

  function openTarget(): ReturnTarget {
    const { databaseUrl: url, dataDir } = plain
    return url === undefined
      ? openSqliteReturnTarget(dataDir)
      : openPostgresReturnTarget({ url, onError() {} })
  }

  return {
    ...{ place, plain, writer, stored, own, moved, clickhouse, links },
    ...{ nowMicros, source, openTarget },

    async move({ hasSwitched = true } = {}) {
      const { db } = stored
      return moveClicks({
        ...{ db, source: await source(), clickhouse, hasSwitched, nowMicros, ...calmly },
      })
    },

    async moveBack({ hasSwitched = true, ...over } = {}) {
      const target = over.target ?? openTarget()
      try {
        return await returnClicks({
          ...{ db: stored.db, target, clickhouse: over.clickhouse ?? clickhouse },
          ...{ hasSwitched, oldestDay: 0, nowMicros, ...calmly },
        })
      } finally {
        await target.close()
      }
    },

    async take(side, clicks) {
      await takeClicks(side, clicks)
      await takeClicks(counting, clicks)
    },

    async expectAll(side) {
      const isInClickHouse = side === moved
      const dimensions = isInClickHouse ? SOME_DIMENSIONS : CLICK_DIMENSIONS
      const expected = await shown(all.store, sameLinks, { dimensions, ranges: RANGES })
      const ranges = isInClickHouse ? ONE_RANGE : RANGES
      assert.deepEqual(await shown(side.store, links, { dimensions, ranges }), expected)
    },

    some(seed, length) {
      const seqs = links.map(({ seq }) => seq)
      const one = fc.array(arbitraryClick(seqs), { minLength: length, maxLength: length })
      return fc.sample(one, { numRuns: 1, seed: SEED + seed })[0] ?? []
    },

    async erase(nth, kind) {
      for (const [{ db }, counter, of] of [
        [stored, writer, links],
        [all, counting, sameLinks],
      ] as const) {
        const { seq, workspace_id: workspaceId } = of[nth] as Link
        const erased = of.filter((link) =>
          kind === 'link' ? link.seq === seq : link.workspace_id === workspaceId,
        )
        const linkSeqs = erased.map((link) => link.seq)
        await db.deleteFrom('links').where('seq', 'in', linkSeqs).execute()
        await counter.erase({ kind: 'links', linkSeqs })
        if (kind === 'link') continue
        // The row goes last, days later.
        const deleted_at = nowMicros()
        await db
          .updateTable('workspaces')
          .set({ deleted_at })
          .where('id', '=', workspaceId)
          .execute()
        await counter.erase({ kind: 'workspace', workspaceId })
      }
    },

    async dropBefore(day) {
      await own.maintain(DAY + 1, day)
      await counting.maintain(DAY + 1, day)
    },

    async close() {
      await Promise.all([writer.close(), own.close(), counting.close(), clickhouse.close()])
      await Promise.all([stored.store.close(), moved.store.close(), all.store.close()])
      await Promise.all([place.remove(), reference.remove()])
    },
  }
}

/** The first links of a new database have the same numbers in each. */
async function addLinks(store: FullStore): Promise<readonly Link[]> {
  const home = await addHome(store)
  const other = await addKeyspace(store, home.workspace_id)
  const links: Link[] = []
  for (const each of [home, home, other, await addHome(store)]) {
    links.push(await addLink(store, each))
  }
  return links
}

/** Everything that charts and exports of links show, without names. */
async function shown(
  store: FullStore,
  links: readonly Link[],
  options: {
    readonly dimensions: readonly ClickDimension[]
    readonly ranges: readonly (readonly [from: number, to: number])[]
  },
): Promise<unknown[]> {
  const found: unknown[] = []
  for (const [nth, scope] of scopesOf(links).entries()) {
    for (const dimension of [undefined, ...options.dimensions]) {
      const wanted = { ...(dimension && { dimension }), slots: true }
      const days = await Promise.all(
        options.ranges.map(([from, to]) => store.read.reports.readDays(scope, from, to, wanted)),
      )
      found.push(
        days.flat().map(({ values, ...day }) => ({
          ...{ nth, kind: scope.kind, dimension },
          ...day,
          values: [...values].sort(),
        })),
      )
    }
    const raw = await rawClicksOf(store, scope)
    const texts = raw
      .filter(({ at }) => at >= 0)
      .map(({ key, host, link_id, ...click }) => JSON.stringify(Object.entries(click).sort()))
    found.push(texts.sort())
  }
  return found
}

function scopesOf(links: readonly Link[]): readonly ClickScope[] {
  const all = links.flatMap((link): ClickScope[] => [
    { kind: 'link', workspaceId: link.workspace_id, linkSeq: link.seq },
    { kind: 'domain', workspaceId: link.workspace_id, keyspaceId: link.keyspace_id },
    { kind: 'workspace', workspaceId: link.workspace_id },
  ])
  return [...new Map(all.map((scope) => [JSON.stringify(scope), scope])).values()]
}
