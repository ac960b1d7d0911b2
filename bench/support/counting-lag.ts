import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { apiClient, expectStatus } from '../../test/support/api.ts'
import { type ENGINES, SQLITE } from '../../test/support/engines.ts'
import { BROWSER, visit } from '../../test/support/visit.ts'
import { createToken } from './create-token.ts'
import { createDataFolder } from './data-folder.ts'
import { runLoad } from './load.ts'
import { startTerse } from './server-process.ts'
import { median, round } from './statistics.ts'

const LINKS = 1_000
const VISITS = 60_000
const CONNECTIONS = 16
/** Single visits, each of which must be counted before the next. */
const LONE_VISITS = 20
const POLL_INTERVAL_MS = 10

/**
 * Measures how long redirects are blocked while clicks are ingested, and after what time a click is
 * visible in its link's counter.
 */
export async function measureCountingLag(
  engine: (typeof ENGINES)[number],
): Promise<Readonly<Record<string, unknown>>> {
  const made = await engine.createPlace()
  const dataDir = engine === SQLITE ? createDataFolder() : made.dataDir
  const env = { ...made.env, TERSE_DATA_DIR: dataDir }
  const token = await createToken(env)
  const terse = await startTerse(env)
  try {
    const api = apiClient(`http://127.0.0.1:${terse.port}`, token)
    const ids: string[] = []
    for (let number = 0; number < LINKS; number += 1) {
      const link = { domain: 'localhost', key: `key-${number}`, url: 'https://example.com/' }
      ids.push(expectStatus(await api.post('/links', link), 201).body.id)
    }
    const clicksOf = async (id: string | undefined) =>
      expectStatus(await api.get(`/links/${id}`), 200).body.clicks as number
    const [first] = ids

    const lagsMs: number[] = []
    for (let count = 1; count <= LONE_VISITS; count += 1) {
      await visit(terse.port, '/key-0')
      const visitedMs = performance.now()
      while ((await clicksOf(first)) < count) await sleep(POLL_INTERVAL_MS)
      lagsMs.push(performance.now() - visitedMs)
    }

    await terse.ask('watch')
    const { seconds } = await runLoad({
      port: terse.port,
      connections: CONNECTIONS,
      count: VISITS,
      status: 302,
      request: (number) =>
        `GET /key-${number % LINKS} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: ${BROWSER}\r\n\r\n`,
    })
    const { stallMs } = await terse.ask('stall')
    const endedMs = performance.now()
    const each = VISITS / LINKS
    // Every link's last visit was among the last thousand.
    while ((await clicksOf(ids.at(-1))) < each) await sleep(POLL_INTERVAL_MS)
    while ((await clicksOf(first)) < each + LONE_VISITS) await sleep(POLL_INTERVAL_MS)
    return {
      engine: engine.name,
      'lone click counted after ms, median': round(median(lagsMs)),
      'at most': round(Math.max(...lagsMs)),
      'redirects/s under load': Math.round(VISITS / seconds),
      'longest stall ms': round(stallMs),
      'all counted after the load, ms': round(performance.now() - endedMs),
    }
  } finally {
    await terse.stop()
    await made.remove()
    if (engine === SQLITE) rmSync(dataDir, { recursive: true, force: true })
  }
}
