import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { NOWHERE } from '../../src/clicks/index.ts'
import { visitTokens } from '../../src/conversions/token.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { decide, type RedirectDecision, type Visit } from '../../src/redirects/decide.ts'
import { locationWithToken } from '../../src/redirects/visit-token.ts'
import { preparedLink } from '../../test/redirect/prepared-links.ts'
import { apiClient, expectStatus } from '../../test/support/api.ts'
import { visit } from '../../test/support/visit.ts'
import { createToken } from '../support/create-token.ts'
import { createDataFolder } from '../support/data-folder.ts'
import { usageOf } from '../support/process-usage.ts'
import type { Scenario } from '../support/scenario.ts'
import { startTerse } from '../support/server-process.ts'
import { median, quantile, round } from '../support/statistics.ts'

/** So short that other programs leave some of them alone. */
const VISITS_PER_SLICE = 2_000
const SLICES_PER_ROUND = 60
const TOKEN_MICROS_MAX = 2
const UNTRACKED_MICROS_MAX = 0.1
const BATCH_REPORTS = 1_000
const BATCHES_PER_ROUND = 10
const NOW_MS = Date.UTC(2026, 5, 1)
const ADDRESS = '192.0.2.7'

/** What a token costs a redirect, and how fast reports are recorded. */
export const conversions: Scenario = {
  name: 'conversions',
  description:
    'the destination of a visit with a token and without, in one process; reports by API',
  async run({ rounds }) {
    const parts = {
      makeToken: visitTokens(randomBytes(32), systemRandom).make,
      visitorFacts: { place: () => ({ ...NOWHERE, country: 'DE' }) },
    }
    const ways: Readonly<Record<string, LocationOf>> = {
      'the destination alone': ({ location }) => location,
      'not tracked': (decision) => locationOf(decision, UNTRACKED, parts),
      tracked: (decision) => locationOf(decision, TRACKED, parts),
    }
    const micros = new Map(Object.keys(ways).map((way) => [way, [] as number[]]))
    for (let slice = 0; slice < (rounds + 1) * SLICES_PER_ROUND; slice += 1) {
      for (const [way, locate] of Object.entries(ways)) {
        const measured = microsPerVisit(locate)
        // V8 compiles during the first round.
        if (slice >= SLICES_PER_ROUND) micros.get(way)?.push(measured)
      }
    }
    const alone = micros.get('the destination alone') ?? []
    /** Pairs of slices that followed each other. */
    const more = (way: string) =>
      (micros.get(way) ?? []).map((value, slice) => value - (alone[slice] ?? 0))
    const [tracked, untracked] = [more('tracked'), more('not tracked')]
    const reports = await recordReports(rounds)
    return {
      rows: [
        ...[...micros].map(([what, values]) => ({ what, ...spread(values) })),
        { what: 'more with a token', ...spread(tracked) },
        { what: 'more for links that are not tracked', ...spread(untracked) },
        { what: `reports in batches of ${BATCH_REPORTS}`, ...reports },
      ],
      targets: [
        {
          what: 'µs more with a token, lowest tenth',
          value: quantile(tracked, 0.1),
          atMost: TOKEN_MICROS_MAX,
        },
        {
          what: 'µs more for links that are not tracked, median',
          value: median(untracked),
          atMost: UNTRACKED_MICROS_MAX,
        },
      ],
      missing: [],
    }
  },
}

function spread(micros: readonly number[]) {
  const at = (part: number) => round(quantile(micros, part), 2)
  return { 'µs, lowest tenth': at(0.1), quartile: at(0.25), median: at(0.5) }
}

type LocationOf = (decision: RedirectDecision) => string
type Parts = Parameters<typeof locationWithToken>[0]

const TRACKED = { tokenParameter: 'tc' }
const UNTRACKED = { tokenParameter: null }

/** As the redirect does. */
function locationOf(
  decision: RedirectDecision,
  { tokenParameter }: { readonly tokenParameter: string | null },
  parts: Parts,
): string {
  if (tokenParameter === null) return decision.location
  const visitor = { atMicros: NOW_MS * 1_000, address: ADDRESS }
  return locationWithToken(parts, tokenParameter, decision, visitor)
}

/** Returns the time of a visit. */
function microsPerVisit(locate: LocationOf): number {
  const seen: Visit = {
    host: {
      ...{ keyspaceId: 1, notFoundUrl: null, expiredUrl: null, hstsMaxAge: null, settings: null },
    },
    link: preparedLink({ workspaceId: '01a222ca-57ef-7c11-9dc6-044416ab85be' }),
    ...{ isRoot: false, path: undefined, sets: [], query: '', knowsPassword: false },
    ...{ labelParameter: null, device: 'other' },
    visitorOf: () => {
      throw new Error('a link without rules asks for no visitor')
    },
  }
  let lengths = 0
  const startedMs = performance.now()
  for (let number = 0; number < VISITS_PER_SLICE; number += 1) {
    const decision = decide(seen, NOW_MS)
    if (decision.kind === 'redirect') lengths += locate(decision).length
  }
  const elapsedMs = performance.now() - startedMs
  if (lengths === 0) throw new Error('no visit was redirected')
  return (elapsedMs * 1_000) / VISITS_PER_SLICE
}

/** Sends batches one after the other to a service on SQLite, each report with a key of its own. */
async function recordReports(rounds: number) {
  const dataDir = createDataFolder()
  const env = { TERSE_DATA_DIR: dataDir }
  const token = await createToken(env)
  const terse = await startTerse(env)
  try {
    const api = apiClient(`http://127.0.0.1:${terse.port}`, token)
    const link = { domain: 'localhost', key: 'shop', url: 'https://shop.example.com/' }
    expectStatus(await api.post('/links', { ...link, track_conversions: true }), 201)
    const tokens = await visitTokensOf(terse.port)
    let sent = 0
    const batch = () =>
      tokens.map((each) => {
        sent += 1
        const value = { value: 7_490, currency: 'EUR', idempotency_key: `order-${sent}` }
        return { token: each, event: 'order', ...value }
      })
    const perSecond: number[] = []
    const cpuMicros: number[] = []
    for (let number = 0; number <= rounds; number += 1) {
      const batches = Array.from({ length: BATCHES_PER_ROUND }, batch)
      const before = usageOf(terse.pid)
      const startedMs = performance.now()
      for (const reports of batches) {
        const { body } = expectStatus(await api.post('/conversions', reports), 200)
        if (body.recorded !== reports.length) throw new Error(`${body.recorded} were recorded`)
      }
      const reports = BATCHES_PER_ROUND * BATCH_REPORTS
      const seconds = (performance.now() - startedMs) / 1_000
      if (number === 0) continue
      perSecond.push(reports / seconds)
      cpuMicros.push((usageOf(terse.pid).cpuMicros - before.cpuMicros) / reports)
    }
    return {
      'reports/s': Math.round(median(perSecond)),
      'CPU µs': round(median(cpuMicros)),
    }
  } finally {
    await terse.stop()
    rmSync(dataDir, { recursive: true })
  }
}

async function visitTokensOf(port: number): Promise<readonly string[]> {
  const tokens: string[] = []
  while (tokens.length < BATCH_REPORTS) {
    const { headers } = await visit(port, '/shop')
    tokens.push(new URL(headers.location ?? '').searchParams.get('tc') ?? '')
  }
  return tokens
}
