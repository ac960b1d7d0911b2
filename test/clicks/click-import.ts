import type { FullStore } from '../../src/app/database/stores.ts'
import { NOWHERE } from '../../src/clicks/click.ts'
import { countSpool } from '../../src/clicks/ingest/spool-drain.ts'
import { isCounted } from '../../src/clicks/spool/spool-reader.ts'
import { dayOf } from '../../src/clicks/tally/click-day.ts'
import type { FinishedClicks, ImportedClick } from '../../src/imports/imported-clicks.ts'
import { SpooledClicks } from '../../src/imports/spooled-clicks.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { openWriterAt } from '../support/click-writers.ts'
import type { Place } from '../support/engines.ts'

/** What an importer would read from its source. */
export type ImportPlan = {
  readonly importId: string
  readonly workspaceId: string
  readonly clicks: readonly ImportedClick[]
}

export type ImportPlace = Pick<Place, 'databaseUrl' | 'dataDir'>

const CLICKS_PER_BATCH = 7
/** Files and partitions of old days take most of the time of an import. */
const NO_ROWS_DAYS = 1
const NEVER = new AbortController().signal

/** Spools in a store, and counts without a drain thread. */
export function spooledClicks(
  store: FullStore,
  place: ImportPlace,
  count: (spoolId: string) => Promise<void> = (spoolId) => countHere(store, place, spoolId),
) {
  return new SpooledClicks({
    store,
    clock: systemClock(),
    random: systemRandom,
    places: async () => () => NOWHERE,
    count,
  })
}

/** Counts without rows for exports, except those of today. */
export function countWithoutRows(store: FullStore, place: ImportPlace, spoolId: string) {
  return countHere(store, place, spoolId, NO_ROWS_DAYS)
}

async function countHere(
  store: FullStore,
  place: ImportPlace,
  spoolId: string,
  retentionDays = 0,
): Promise<void> {
  const journalId = (await store.read.clickSpools.find(spoolId))?.journal_id
  if (!journalId) throw new Error('the spool is not sealed')
  const writer = await openWriterAt(place, { retentionDays })
  try {
    const today = dayOf(systemClock().nowMicros())
    if (retentionDays > 0) await writer.maintain(today, today - retentionDays)
    const counting = { writer, clock: systemClock(), onCounted: () => {} }
    await countSpool(counting, { id: spoolId, journalId }, NEVER)
  } finally {
    await writer.close()
  }
  if (!(await isCounted(store, spoolId))) throw new Error('clicks were left in the spool')
}

/** Imports what an earlier process has left of the plan. */
export async function runImport(
  store: FullStore,
  place: ImportPlace,
  { importId, workspaceId, clicks }: ImportPlan,
  count?: (spoolId: string) => Promise<void>,
): Promise<FinishedClicks> {
  const of = { importId, workspaceId }
  const imported = spooledClicks(store, place, count)
  for (let first = 0; first < clicks.length; first += CLICKS_PER_BATCH) {
    const cursor = `${importId} ${first}`
    if ((await store.read.instance.find(cursor)) !== undefined) continue
    const prepared = await imported.prepare(of, clicks.slice(first, first + CLICKS_PER_BATCH))
    await store.write(async (stores) => {
      await imported.spool(stores, of, prepared)
      await stores.instance.keep(cursor, 'read')
    })
  }
  return imported.finish(of, NEVER)
}
