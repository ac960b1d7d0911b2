import { apiClient, expectStatus } from '../test/support/api.ts'
import { ENGINES, type Engine, type Place } from '../test/support/engines.ts'
import { globalSetup, globalTeardown } from '../test/support/global-setup.ts'
import { createToken } from './support/create-token.ts'
import { runLoad } from './support/load.ts'
import { fillWithLinks, timePlainOffset } from './support/many-links.ts'
import { profilingOptions } from './support/profiling.ts'
import { report } from './support/report.ts'
import { type ServerProcess, startTerse } from './support/server-process.ts'
import { median, quantile, round } from './support/statistics.ts'

/**
 * Measures how long a page of a workspace with a million links takes over HTTP, on both engines.
 * The pages of the plain list have a time limit. Filters and other orders are for information,
 * because they read every link: they must only not block the event loop.
 */
const LATENCY_MAX_MS = 50
const LINKS = Number(process.env.BENCH_LINKS ?? 1_000_000)
const PER_PAGE = 25

const WARM_UP = 5
const BOUNDED = {
  requests: 40,
  queries: ['page=1', 'page=100', 'page=20000', 'page=40000', 'page=10000&per_page=100'],
}
const SCANS = {
  requests: 3,
  queries: [
    'search=page-77777',
    'search=no-link-has-this',
    'tag=tag-7',
    'domain=go.localhost',
    'sort=-clicks',
    'sort=-clicks&page=40000',
  ],
}
const PLAIN_OFFSET_PAGES = [1, 100, 20_000, 40_000]

type Row = Readonly<Record<string, unknown>>

const rows: Row[] = []
const missed: string[] = []

function summarize(engine: Engine, query: string, latenciesMs: readonly number[]): Row {
  return {
    engine: engine.name,
    query,
    requests: latenciesMs.length,
    'median ms': round(median(latenciesMs)),
    'p95 ms': round(quantile(latenciesMs, 0.95)),
    'max ms': round(Math.max(...latenciesMs)),
  }
}

async function measureLists(engine: Engine, terse: ServerProcess, token: string): Promise<void> {
  async function ask(query: string, count: number): Promise<readonly number[]> {
    const request = [
      `GET /api/v1/links?${query} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${token}`,
      '\r\n',
    ].join('\r\n')
    const load = { port: terse.port, connections: 1, count, status: 200, request: () => request }
    return (await runLoad(load)).latenciesMs
  }

  for (const query of BOUNDED.queries) {
    await ask(query, WARM_UP)
    const latenciesMs = await ask(query, BOUNDED.requests)
    rows.push(summarize(engine, query, latenciesMs))
    // The slowest of a few dozen depends more on the machine's other work than on the query.
    const p95Ms = quantile(latenciesMs, 0.95)
    if (p95Ms >= LATENCY_MAX_MS) missed.push(`${query} on ${engine.name} took ${round(p95Ms)} ms`)
  }
  for (const query of SCANS.queries) {
    await terse.ask('watch')
    const latenciesMs = await ask(query, SCANS.requests)
    const { stallMs } = await terse.ask('stall')
    rows.push({ ...summarize(engine, query, latenciesMs), 'longest stall ms': round(stallMs) })
  }
}

async function measurePlace(engine: Engine, place: Place): Promise<void> {
  const token = await createToken(place.env)
  const terse = await startTerse(place.env, profilingOptions())
  try {
    const api = apiClient(`http://127.0.0.1:${terse.port}`, token)
    for (const domain of ['localhost', 'go.localhost']) {
      expectStatus(await api.post('/links', { domain, url: 'https://example.com/' }), 201)
    }
    await fillWithLinks(place, LINKS)
    await measureLists(engine, terse, token)
  } finally {
    await terse.stop()
  }
  for (const page of PLAIN_OFFSET_PAGES) {
    const latenciesMs = await timePlainOffset(place, (page - 1) * PER_PAGE, PER_PAGE)
    rows.push(summarize(engine, `plain OFFSET of page ${page}, without HTTP`, latenciesMs))
  }
}

await globalSetup()
try {
  for (const engine of ENGINES) {
    const place = await engine.createPlace()
    try {
      await measurePlace(engine, place)
    } finally {
      await place.remove()
    }
  }
} finally {
  await globalTeardown()
}
report('list-pages', rows, missed)
