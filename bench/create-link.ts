import { rmSync } from 'node:fs'
import { apiClient, expectStatus } from '../test/support/api.ts'
import { compareRounds } from './support/compare.ts'
import { createToken } from './support/create-token.ts'
import { createDataFolder } from './support/data-folder.ts'
import { profilingOptions } from './support/profiling.ts'
import { report } from './support/report.ts'
import { startBaseline, startTerse } from './support/server-process.ts'

/**
 * Measures what creating a link costs: the server's CPU time for `POST /api/v1/links` with a
 * generated key, on SQLite in a real file with real syncs, compared with Fastify answering the same
 * request with a fixed body of the same length. The run over one connection is for information:
 * there no requests share a sync.
 */
const RATIO_MAX = 3
const BOUNDED_CONNECTIONS = 16
const LOADS = [
  { connections: BOUNDED_CONNECTIONS, count: 8_000 },
  { connections: 1, count: 1_500 },
] as const

const input = { domain: 'localhost', url: 'https://example.com/summer?from=newsletter' }
const dataDir = createDataFolder()
const env = { TERSE_DATA_DIR: dataDir }
const token = await createToken(env)
const terse = await startTerse(env, profilingOptions())
const api = apiClient(`http://127.0.0.1:${terse.port}`, token)
const { body: created } = expectStatus(await api.post('/links', input), 201)
const baseline = await startBaseline(
  new URL('./support/fastify-baseline.ts', import.meta.url),
  JSON.stringify(created),
)

const body = JSON.stringify(input)
const request = [
  'POST /api/v1/links HTTP/1.1',
  'Host: localhost',
  `Authorization: Bearer ${token}`,
  'Content-Type: application/json',
  'Accept: application/json',
  `Content-Length: ${body.length}`,
  '',
  body,
].join('\r\n')

try {
  const results = await compareRounds({
    terse,
    baseline,
    loads: LOADS,
    status: 201,
    request: () => request,
  })
  const missed = results
    .filter(({ connections, ratio }) => connections === BOUNDED_CONNECTIONS && ratio > RATIO_MAX)
    .map(
      ({ ratio }) => `a create costs ${ratio.toFixed(2)} times Fastify; ${RATIO_MAX} is the most`,
    )
  report(
    'create-link',
    results.map(({ row }) => row),
    missed,
  )
} finally {
  await Promise.all([terse.stop(), baseline.stop()])
  rmSync(dataDir, { recursive: true, force: true })
}
