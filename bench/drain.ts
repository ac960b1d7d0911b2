import { rmSync, writeFileSync } from 'node:fs'
import type { Click } from '../src/clicks/click.ts'
import { DrainProgress } from '../src/clicks/ingest/drain-messages.ts'
import { Drainer } from '../src/clicks/ingest/drainer.ts'
import {
  createJournal,
  type JournalFolder,
  journalsRoot,
  segmentFile,
} from '../src/clicks/journal/journal-folder.ts'
import { dayOf, startOfDay } from '../src/clicks/tally/click-day.ts'
import { systemClock } from '../src/platform/time/clock.ts'
import { createTestLink } from '../test/clicks/test-link.ts'
import { encodeFrame } from '../test/support/click-frames.ts'
import { openWriterAt } from '../test/support/click-writers.ts'
import { ENGINES, type Engine, type Place, SQLITE } from '../test/support/engines.ts'
import { globalSetup, globalTeardown } from '../test/support/global-setup.ts'
import { openAt } from '../test/support/store.ts'
import { measureCountingLag } from './support/counting-lag.ts'
import { createDataFolder } from './support/data-folder.ts'
import { fillWithLinks } from './support/many-links.ts'
import { usageOf } from './support/process-usage.ts'
import { report } from './support/report.ts'
import { clickSource, zipf } from './support/sample-clicks.ts'
import { round } from './support/statistics.ts'

/**
 * Measures how many clicks a second the drain ingests: reading the journal, writing raw clicks,
 * counters and tallies, with everything on disk. The clicks wait in a journal at the start. The
 * target is about CPU time, of this process and of the database server together, as if both shared
 * one core, because other work on the machine changes it less than wall time.
 */
const CLICKS = Number(process.env.BENCH_CLICKS ?? 1_000_000)
const LINKS = 100_000
const CLICKS_PER_FRAME = 64
/** As many as a segment of 16 MiB has. */
const FRAMES_PER_SEGMENT = 4_000
/** The default of `TERSE_RAW_CLICKS_PER_MINUTE`; 0 stores a row for each click. */
const RAW_PER_MINUTE = Number(process.env.BENCH_RAW_PER_MINUTE ?? 60_000)
const TARGETS = { SQLite: 50_000, PostgreSQL: 20_000 }
const HOUR_MICROS = 3_600_000_000

const WORKLOADS = [
  { name: 'uniform, within a minute', exponent: 0, micros: HOUR_MICROS / 60 },
  { name: 'Zipf(1), within a minute', exponent: 1, micros: HOUR_MICROS / 60 },
  { name: 'uniform, over a day', exponent: 0, micros: 24 * HOUR_MICROS - 1 },
  { name: 'Zipf(1), over a day', exponent: 1, micros: 24 * HOUR_MICROS - 1 },
] as const

/** How many of the workloads are run. */
const WORKLOADS_COUNT = Number(process.env.BENCH_WORKLOADS ?? WORKLOADS.length)

const clock = systemClock()
const rows: Record<string, unknown>[] = []
const missed: string[] = []
const lags: Readonly<Record<string, unknown>>[] = []

/** The numbers of the links that `fillWithLinks` creates after two others. */
const FIRST_LINK = 3

/**
 * Writes a journal of so many clicks in the order of their instants. Returns how many of them are
 * people's.
 */
function journalled(
  place: Pick<Place, 'dataDir'>,
  clickOf: (index: number) => Click,
): { journal: JournalFolder; persons: number } {
  const journal = createJournal(journalsRoot(place.dataDir))
  let persons = 0
  let frames: Buffer[] = []
  let segment = 0
  for (let start = 0; start < CLICKS; start += CLICKS_PER_FRAME) {
    const count = Math.min(CLICKS_PER_FRAME, CLICKS - start)
    const clicks = Array.from({ length: count }, (_, index) => clickOf(start + index))
    persons += clicks.filter(({ flags }) => flags === 0).length
    frames.push(encodeFrame(clicks))
    if (frames.length < FRAMES_PER_SEGMENT && start + count < CLICKS) continue
    segment += 1
    writeFileSync(segmentFile(journal.folder, segment), Buffer.concat(frames))
    frames = []
  }
  return { journal, persons }
}

async function countedIn(place: Pick<Place, 'dataDir' | 'databaseUrl'>): Promise<number> {
  const { store, db } = await openAt(place)
  const row = await db
    .selectFrom('link_clicks')
    .select((eb) => eb.fn.sum<string>('clicks').as('clicks'))
    .executeTakeFirst()
  await store.close()
  return Number(row?.clicks ?? 0)
}

async function measureDrain(
  engine: Engine,
  place: Pick<Place, 'dataDir' | 'databaseUrl'>,
  { name, exponent, micros }: (typeof WORKLOADS)[number],
): Promise<void> {
  const draw = zipf(LINKS, exponent)
  const source = clickSource(() => FIRST_LINK + draw())
  const midnight = startOfDay(dayOf(clock.nowMicros()) - 1)
  const { journal, persons } = journalled(place, (index) =>
    source(Math.floor(midnight + (micros * index) / CLICKS)),
  )
  const countedBefore = await countedIn(place)

  const writer = await openWriterAt(place, { rawPerMinute: RAW_PER_MINUTE })
  const batchesMs: number[] = []
  const fail = (what: unknown) => {
    throw new Error(`the drain reported ${what}`)
  }
  const drainer = new Drainer({
    keepMs: 0,
    writer: {
      batchMax: writer.batchMax,
      spools: writer.spools,
      findPosition: (journalId) => writer.findPosition(journalId),
      maintain: (today, oldestDay) => writer.maintain(today, oldestDay),
      erase: (erased) => writer.erase(erased),
      close: () => writer.close(),
      async write(batch) {
        const startedMs = performance.now()
        const taken = await writer.write(batch)
        batchesMs.push(performance.now() - startedMs)
        return taken
      },
    },
    clock,
    journal,
    progress: new DrainProgress(),
    activeSegment: () => Number.POSITIVE_INFINITY,
    onError: fail,
    onDamage: fail,
  })
  const cpu = process.cpuUsage()
  const before = usageOf(process.pid)
  const startedMs = performance.now()
  await drainer.drain()
  const seconds = (performance.now() - startedMs) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  const cpuSeconds = (user + system) / 1e6
  const after = usageOf(process.pid)
  await writer.close()
  journal.remove()
  const counted = (await countedIn(place)) - countedBefore
  if (counted !== persons) throw new Error(`${counted} counted of ${persons}`)

  // CPU time, including the database server's, which other work on the machine hardly changes.
  const reached = Math.round((CLICKS * 1e6) / (after.cpuMicros - before.cpuMicros))
  rows.push({
    engine: engine.name,
    workload: name,
    clicks: CLICKS,
    'clicks/s, wall': Math.round(CLICKS / seconds),
    'CPU µs/click': round((cpuSeconds * 1e6) / CLICKS, 2),
    'with the server’s': round((after.cpuMicros - before.cpuMicros) / CLICKS, 2),
    'clicks/s of CPU': reached,
    'waited for a core, s': round((after.waitedMs - before.waitedMs) / 1_000),
    'wall s': round(seconds),
    'longest batch ms': round(Math.max(...batchesMs)),
  })
  if (reached < TARGETS[engine.name]) {
    missed.push(
      `${engine.name} took in ${reached} clicks/s, ${name}; ${TARGETS[engine.name]} is the least`,
    )
  }
}

async function benchEngine(engine: Engine): Promise<void> {
  for (const workload of WORKLOADS.slice(0, WORKLOADS_COUNT)) {
    const made = await engine.createPlace()
    const place = engine === SQLITE ? { ...made, dataDir: createDataFolder() } : made
    try {
      const { store } = await openAt(place)
      for (let count = 1; count < FIRST_LINK; count += 1) await createTestLink(store, clock)
      await store.close()
      await fillWithLinks(place, LINKS)
      await measureDrain(engine, place, workload)
    } finally {
      rmSync(place.dataDir, { recursive: true, force: true })
      await made.remove()
    }
  }
}

await globalSetup()
try {
  const only = process.env.BENCH_ENGINE
  for (const engine of ENGINES) {
    if (only !== undefined && engine.name !== only) continue
    await benchEngine(engine)
    if (WORKLOADS_COUNT === WORKLOADS.length) lags.push(await measureCountingLag(engine))
  }
} finally {
  await globalTeardown()
}
report('drain', rows, missed)
report('counting-lag', lags, [])
