import { apiClient, expectStatus } from '../test/support/api.ts'
import { ENGINES, type Engine, type Place } from '../test/support/engines.ts'
import { globalSetup, globalTeardown } from '../test/support/global-setup.ts'
import { openAt } from '../test/support/store.ts'
import { countClicks } from './support/clicked-link.ts'
import { createToken } from './support/create-token.ts'
import { runLoad } from './support/load.ts'
import { profilingOptions } from './support/profiling.ts'
import { report } from './support/report.ts'
import { type ServerProcess, startTerse } from './support/server-process.ts'
import { median, quantile, round } from './support/statistics.ts'

/**
 * Measures how long charts of a link with a hundred million clicks in a year take over HTTP, on
 * both engines, and for how long they block the event loop meanwhile.
 */
const LATENCY_MAX_MS = 50
const CLICKS = Number(process.env.BENCH_CLICKS ?? 100_000_000)
const DAYS = 365
const WARM_UP = 3
const REQUESTS = 20

/** Queries with a time limit, and for information those that read most. */
const BOUNDED = [
  { name: 'a year by day', query: 'interval=day' },
  { name: 'a year, top 10 countries', query: 'group_by=country&limit=10' },
]
const OTHERS = [
  { name: 'a year by day in Berlin', query: 'interval=day&timezone=Europe/Berlin' },
  { name: 'a year by month in Kathmandu', query: 'interval=month&timezone=Asia/Kathmandu' },
  { name: 'a year by hour', query: 'interval=hour' },
  { name: 'a year by day from Germany', query: 'interval=day&country=AA' },
  { name: 'a year, top 100 referrers', query: 'group_by=referrer&limit=100' },
  { name: 'a year, top 10 countries by day', query: 'group_by=country&interval=day' },
  {
    name: 'a year, top 10 countries by day in Berlin',
    query: 'group_by=country&interval=day&timezone=Europe/Berlin',
  },
  {
    name: 'a year, top 10 referrers by day in Berlin',
    query: 'group_by=referrer&interval=day&timezone=Europe/Berlin',
  },
]

const DAY_MS = 86_400_000
const TODAY = Math.floor(Date.now() / DAY_MS)
const dateOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)
const YEAR = `from=${dateOf(TODAY - DAYS)}&to=${dateOf(TODAY)}`

const rows: Readonly<Record<string, unknown>>[] = []
const missed: string[] = []

async function measure(engine: Engine, terse: ServerProcess, path: string, token: string) {
  for (const { name, query } of [...BOUNDED, ...OTHERS]) {
    const request = [
      `GET /api/v1${path}?${YEAR}&${query} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${token}`,
      '\r\n',
    ].join('\r\n')
    const ask = (count: number) =>
      runLoad({ port: terse.port, connections: 1, count, status: 200, request: () => request })
    await ask(WARM_UP)
    await terse.ask('watch')
    const { latenciesMs } = await ask(REQUESTS)
    const { stallMs } = await terse.ask('stall')
    const p95Ms = quantile(latenciesMs, 0.95)
    rows.push({
      engine: engine.name,
      chart: name,
      'median ms': round(median(latenciesMs)),
      'p95 ms': round(p95Ms),
      'longest stall ms': round(stallMs),
    })
    const isBounded = BOUNDED.some((bounded) => bounded.query === query)
    if (isBounded && p95Ms >= LATENCY_MAX_MS) {
      missed.push(`${name} on ${engine.name} took ${round(p95Ms)} ms`)
    }
  }
}

async function makeLink(place: Place, port: number, token: string): Promise<string> {
  const link = { domain: 'localhost', url: 'https://example.com/' }
  const api = apiClient(`http://127.0.0.1:${port}`, token)
  const { body } = expectStatus(await api.post('/links', link), 201)
  const { store } = await openAt(place)
  const found = await store.read.links.findById(body.workspace_id, body.id)
  await store.close()
  if (found === undefined) throw new Error('link not found')
  const options = { clicks: CLICKS, days: DAYS, today: TODAY }
  await countClicks(place, found.seq, options)
  return `/links/${body.id}/clicks`
}

await globalSetup()
try {
  for (const engine of ENGINES) {
    const place = await engine.createPlace()
    try {
      const token = await createToken(place.env)
      const terse = await startTerse(place.env, profilingOptions())
      try {
        await measure(engine, terse, await makeLink(place, terse.port, token), token)
      } finally {
        await terse.stop()
      }
    } finally {
      await place.remove()
    }
  }
} finally {
  await globalTeardown()
}
report('charts', rows, missed)
