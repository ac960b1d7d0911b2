import { rmSync } from 'node:fs'
import { apiClient, expectStatus } from '../test/support/api.ts'
import { BROWSER } from '../test/support/visit.ts'
import { compareRounds } from './support/compare.ts'
import { createToken } from './support/create-token.ts'
import { createDataFolder } from './support/data-folder.ts'
import { profilingOptions } from './support/profiling.ts'
import { report } from './support/report.ts'
import { startBaseline, startTerse } from './support/server-process.ts'

/**
 * What a redirect costs: the server's processor time for a visit to one of 1,000 links, click
 * journalled and taken in, against a bare Node.js server that answers every request with a fixed 302.
 */
const LINKS = 1_000
const LOADS = [
  { connections: 16, count: 40_000 },
  { connections: 1, count: 10_000 },
] as const

const dataDir = createDataFolder()
const env = { TERSE_DATA_DIR: dataDir }
const token = await createToken(env)
const terse = await startTerse(env, profilingOptions())
const baseline = await startBaseline(new URL('./support/http-baseline.ts', import.meta.url))

/** Every key in turn, so that what is measured is not one lucky link. */
function request(number: number): string {
  return [
    `GET /key-${number % LINKS} HTTP/1.1`,
    'Host: localhost',
    `User-Agent: ${BROWSER}`,
    'Accept: text/html,application/xhtml+xml',
    'Accept-Language: en',
    '\r\n',
  ].join('\r\n')
}

try {
  const api = apiClient(`http://127.0.0.1:${terse.port}`, token)
  for (let number = 0; number < LINKS; number += 1) {
    const input = {
      domain: 'localhost',
      key: `key-${number}`,
      url: `https://example.com/${number}`,
    }
    expectStatus(await api.post('/links', input), 201)
  }
  const results = await compareRounds({
    terse,
    baseline,
    loads: LOADS,
    status: 302,
    request,
  })
  report(
    'redirect',
    results.map(({ row }) => row),
    [],
  )
} finally {
  await Promise.all([terse.stop(), baseline.stop()])
  rmSync(dataDir, { recursive: true, force: true })
}
