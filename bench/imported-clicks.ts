import { randomUUID } from 'node:crypto'
import { NOWHERE } from '../src/clicks/click.ts'
import { countBatch } from '../src/clicks/ingest/spool-drain.ts'
import { isCounted } from '../src/clicks/spool/spool-reader.ts'
import type { ImportedClick } from '../src/imports/imported-clicks.ts'
import { SpooledClicks } from '../src/imports/spooled-clicks.ts'
import { systemRandom } from '../src/platform/crypto/random.ts'
import { systemClock } from '../src/platform/time/clock.ts'
import { createTestLink } from '../test/clicks/test-link.ts'
import { openWriterAt } from '../test/support/click-writers.ts'
import { openAt } from '../test/support/store.ts'
import { createDataFolder } from './support/data-folder.ts'
import { fillWithLinks } from './support/many-links.ts'
import { usageOf } from './support/process-usage.ts'
import { report } from './support/report.ts'
import { round } from './support/statistics.ts'

/**
 * Measures how long the single clicks of an import take on SQLite, from records of a source to counters, charts and
 * rows for exports: visits on 100,000 links over three years, in the order of the links, of which rows are kept for
 * one year. CPU time is of this process, wall time without the pauses that are left to others.
 */
const CLICKS = Number(process.env.BENCH_CLICKS ?? 1_000_000)
const LINKS = 100_000
const FIRST_LINK = 3
const DAYS = 3 * 365
const RETENTION_DAYS = 365
const CLICKS_PER_TRANSACTION = 1_000
const DAY_MICROS = 86_400_000_000
const BATCH_MS_TARGET = 1_000
const AGENTS = [
  'Windows NT 10.0; Win64; x64',
  'Macintosh; Intel Mac OS X 15_0',
  'X11; Linux x86_64',
]

const clock = systemClock()
const place = { dataDir: createDataFolder(), databaseUrl: undefined }
const { store } = await openAt(place)
const first = await createTestLink(store, clock)
await createTestLink(store, clock)
await fillWithLinks(place, LINKS)
const { workspaceId } = first.scope
const today = Math.floor(clock.nowMicros() / DAY_MICROS)
const batchesMs: number[] = []
/** On quiet cores it would take so long, but for the disk. */
const batchesCpuMs: number[] = []

const clicks = new SpooledClicks({
  store,
  clock,
  random: systemRandom,
  places: async () => () => ({ ...NOWHERE, country: 'DE' }),
  count: async (spoolId) => {
    const journalId = (await store.read.clickSpools.find(spoolId))?.journal_id ?? ''
    const writer = await openWriterAt(place, { retentionDays: RETENTION_DAYS })
    await writer.maintain(today, today - RETENTION_DAYS)
    for (;;) {
      const startedMs = performance.now()
      const startedCpu = process.cpuUsage()
      const counting = { writer, clock, onCounted: () => {} }
      const { outcome } = await countBatch(counting, { id: spoolId, journalId })
      if (outcome === 'end') break
      batchesMs.push(performance.now() - startedMs)
      const { user, system } = process.cpuUsage(startedCpu)
      batchesCpuMs.push((user + system) / 1_000)
    }
    await writer.close()
    while (!(await isCounted(store, spoolId)));
  },
})

/** The visits of a link come one after the other, as sources list them. */
function imported(nth: number): ImportedClick {
  const linkSeq = FIRST_LINK + Math.floor((nth * LINKS) / CLICKS)
  const at = (today - 1 - ((nth * 7_919) % DAYS)) * DAY_MICROS + ((nth * 104_729) % 86_400) * 1e6
  const system = AGENTS[nth % AGENTS.length]
  const click = {
    kind: 'click',
    resume: '',
    ref: '',
    at,
    address: `198.51.${nth % 256}.${(nth >> 8) % 256}`,
    user_agent: `Mozilla/5.0 (${system}; rv:${120 + (nth % 40)}.0) Gecko/20100101 Firefox/${120 + (nth % 40)}.0`,
    referrer: `https://site-${nth % 300}.example/`,
    country: '',
    is_bot: false,
  } as const
  return { linkSeq, kind: 'click', click }
}

const of = { importId: randomUUID(), workspaceId }
const rows: Record<string, unknown>[] = []
let before = usageOf(process.pid).cpuMicros
let beganMs = performance.now()
function measured(step: string): void {
  const { cpuMicros, residentPeakMib } = usageOf(process.pid)
  rows.push({
    step,
    clicks: CLICKS,
    seconds: round((performance.now() - beganMs) / 1_000, 1),
    cpuSeconds: round((cpuMicros - before) / 1e6, 1),
    residentPeakMib: round(residentPeakMib),
  })
  before = cpuMicros
  beganMs = performance.now()
}

for (let start = 0; start < CLICKS; start += CLICKS_PER_TRANSACTION) {
  const some = Array.from({ length: CLICKS_PER_TRANSACTION }, (_, nth) => imported(start + nth))
  const prepared = await clicks.prepare(of, some)
  await store.write((stores) => clicks.spool(stores, of, prepared))
}
measured('spooled')
await clicks.finish(of, new AbortController().signal)
measured('counted')
const quantile = (values: number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0
const p99 = quantile(batchesMs, 0.99)
rows.push({
  step: 'batches',
  count: batchesMs.length,
  p50Ms: round(quantile(batchesMs, 0.5)),
  p99Ms: round(p99),
  cpuP50Ms: round(quantile(batchesCpuMs, 0.5)),
  cpuP99Ms: round(quantile(batchesCpuMs, 0.99)),
})
await store.close()
report('imported-clicks', rows, p99 > BATCH_MS_TARGET ? [`a batch took ${round(p99)} ms`] : [])
