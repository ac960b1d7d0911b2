import type { IncomingHttpHeaders } from 'node:http'
import autocannon from 'autocannon'
import { drawPath } from './draw-path.ts'
import { headerSets } from './header-sets.ts'
import type { LoadResult, LoadSpec } from './load-spec.ts'
import { HOST } from './traffic.ts'

/**
 * About its requests per second on one core. It ends after a number of requests, not after a time.
 */
const REQUESTS_PER_SECOND = 25_000
/** The requests of each connection, repeated from the first after the last. */
const REQUESTS_PER_CONNECTION = 2_000

/** Runs autocannon in this process, and checks that every request got the expected answer. */
export async function runAutocannon(spec: LoadSpec): Promise<LoadResult> {
  const headers = headerSets(HOST).map(parseHeaders)
  const draw = (): autocannon.Request => ({
    path: drawPath(spec.traffic),
    headers: headers[Math.floor(Math.random() * headers.length)],
  })
  const startedMs = performance.now()
  const result = await autocannon({
    url: `http://127.0.0.1:${spec.port}`,
    connections: spec.connections,
    amount: spec.seconds * REQUESTS_PER_SECOND,
    setupClient: (client) => {
      client.setRequests(Array.from({ length: REQUESTS_PER_CONNECTION }, draw))
    },
  })
  const seconds = (performance.now() - startedMs) / 1_000
  const answered = spec.status === 302 ? result['3xx'] : result['4xx']
  if (result.requests.sent !== answered || result.errors > 0) {
    throw new Error(`not every request got a ${spec.status}:\n${JSON.stringify(result)}`)
  }
  return {
    answered,
    perSecond: answered / seconds,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  }
}

function parseHeaders(text: string): IncomingHttpHeaders {
  const lines = text.split('\r\n').filter((line) => line !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon), line.slice(colon + 2)]
    }),
  )
}
