import { request } from 'node:http'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runTask } from '../src/app/workers/run-task.ts'
import { apiClient, expectStatus } from '../test/support/api.ts'
import { BROWSER } from '../test/support/visit.ts'
import { createToken } from './support/create-token.ts'
import { createDataFolder } from './support/data-folder.ts'
import { fillWithLinks } from './support/many-links.ts'
import { report } from './support/report.ts'
import { startTerse } from './support/server-process.ts'
import { round } from './support/statistics.ts'

/**
 * Measures how long visits and creates wait while backups are made, compared with the same load without backups, in
 * turns. Both come at fixed rates, each over one connection.
 */
const LINKS = Number(process.env.BENCH_LINKS ?? 500_000)
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const PHASE_MS = 8_000
const VISIT_INTERVAL_MS = 5
const CREATE_INTERVAL_MS = 20
const LONGER_MS_MAX = 50
const MIB = 1024 * 1024

type Waits = { visits: number[]; creates: number[] }

const dataDir = createDataFolder()
const target = createDataFolder()
const env = { TERSE_DATA_DIR: dataDir }
const token = await createToken(env)
const before = await startTerse(env)
const link = { domain: 'localhost', key: 'visited', url: 'https://example.com/' }
expectStatus(await apiClient(`http://127.0.0.1:${before.port}`, token).post('/links', link), 201)
await before.stop()
await fillWithLinks({ dataDir, databaseUrl: undefined }, LINKS)

const terse = await startTerse(env)
const api = apiClient(`http://127.0.0.1:${terse.port}`, token)

/** Repeats `work` at a fixed rate until `stop`, and returns how long each took from when it was due. */
async function timed(work: () => Promise<unknown>, intervalMs: number, stop: AbortSignal) {
  const waits: number[] = []
  for (let dueMs = performance.now(); !stop.aborted; dueMs += intervalMs) {
    const aheadMs = dueMs - performance.now()
    if (aheadMs > 0) await sleep(aheadMs)
    await work()
    waits.push(performance.now() - dueMs)
    if (performance.now() > dueMs + 10 * intervalMs) dueMs = performance.now()
  }
  return waits
}

function visit(): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'localhost', 'user-agent': BROWSER }
    request({ host: '127.0.0.1', port: terse.port, path: '/visited', headers }, (response) => {
      response.resume().on('end', resolve)
    })
      .on('error', reject)
      .end()
  })
}

async function measure(during: () => Promise<void>): Promise<Waits> {
  const stopping = new AbortController()
  const { signal } = stopping
  const create = () => api.post('/links', { domain: 'localhost', url: 'https://example.com/' })
  const loads = [
    timed(visit, VISIT_INTERVAL_MS, signal),
    timed(create, CREATE_INTERVAL_MS, signal),
  ] as const
  await during()
  stopping.abort()
  const [visits, creates] = await Promise.all(loads)
  return { visits, creates }
}

const quiet: Waits = { visits: [], creates: [] }
const busy: Waits = { visits: [], creates: [] }
const backups: Record<string, unknown>[] = []

async function backUp(): Promise<void> {
  const startedMs = performance.now()
  const { storedBytes, writtenBytes } = await runTask('backup', {
    dataDir,
    databaseUrl: undefined,
    secretKey: undefined,
    s3: undefined,
    target: path.join(target, 'target'),
    recipients: [],
    identityFile: undefined,
    signingKeyFile: undefined,
    retention: undefined,
    verifies: false,
    takesOver: false,
  })
  const seconds = round((performance.now() - startedMs) / 1_000, 1)
  const [mib, newMib] = [storedBytes, writtenBytes].map((bytes) => Math.round(bytes / MIB))
  backups.push({ of: 'backup', seconds, mib, newMib })
}

function add(to: Waits, { visits, creates }: Waits): void {
  to.visits.push(...visits)
  to.creates.push(...creates)
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

function summaryOf(waits: readonly number[]) {
  const sorted = waits.toSorted((a, b) => a - b)
  const [p50, p99, p999, longest] = [0.5, 0.99, 0.999, 1].map((share) =>
    round(quantile(sorted, share), 2),
  )
  return { count: sorted.length, p50, p99, p999, longest }
}

try {
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    add(quiet, await measure(() => sleep(PHASE_MS)))
    add(busy, await measure(backUp))
  }
  const rows = (['visits', 'creates'] as const).flatMap((kind) => [
    { of: kind, backup: 'none', ...summaryOf(quiet[kind]) },
    { of: kind, backup: 'under way', ...summaryOf(busy[kind]) },
  ])
  const missed = (['visits', 'creates'] as const).flatMap((kind) => {
    const longer = Math.max(...busy[kind]) - Math.max(...quiet[kind])
    return longer > LONGER_MS_MAX
      ? [`${kind} wait ${Math.round(longer)} ms longer; ${LONGER_MS_MAX} is the most`]
      : []
  })
  report('backup', [...rows, ...backups], missed)
} finally {
  await terse.stop()
}
