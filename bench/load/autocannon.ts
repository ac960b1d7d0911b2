import type { IncomingHttpHeaders } from 'node:http'
import autocannon from 'autocannon'
import { drawPath } from './draw-path.ts'
import { headerSets } from './header-sets.ts'
import type { LoadResult, LoadSpec } from './load-spec.ts'
import { HOST } from './traffic.ts'

/** About what it sends in a second on one core. It ends after a number of requests, not at a time. */
const REQUESTS_PER_SECOND = 25_000
/** Each connection has so many of its own and begins anew after them. */
const REQUESTS_PER_CONNECTION = 2_000

/** Runs autocannon in this process, and makes sure that every request was answered as expected. */
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
