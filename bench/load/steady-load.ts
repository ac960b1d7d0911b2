import { setImmediate as turn } from 'node:timers/promises'
import { quantile } from '../support/statistics.ts'
import { type Connection, openConnection } from './connection.ts'
import { drawPath } from './draw-path.ts'
import { headerSets } from './header-sets.ts'
import { HOST, type Traffic } from './traffic.ts'

export type SteadyLoadResult = {
  readonly answered: number
  readonly p25Ms: number
  readonly p50Ms: number
  readonly p75Ms: number
  readonly p99Ms: number
  /** How late requests were sent although a connection was free: a delay of the load itself. */
  readonly latenessP99Ms: number
}

/**
 * Sends requests for random links at fixed instants, whether or not earlier ones have been
 * answered, and measures each latency from the instant at which the request was due. So a stall of
 * the server counts for every request that was due during it (no "coordinated omission", after Gil
 * Tene's wrk2). When all connections are busy, requests wait for one, and the wait counts.
 */
export async function runSteadyLoad(options: {
  port: number
  traffic: Traffic
  connections: number
  perSecond: number
  seconds: number
}): Promise<SteadyLoadResult> {
  const headers = headerSets(HOST)
  const total = Math.floor(options.perSecond * options.seconds)
  const latenciesMs = new Float64Array(total)
  const latenessMs: number[] = []
  const idle = await Promise.all(
    Array.from({ length: options.connections }, () => openConnection(options.port, 302)),
  )
  const failure = Promise.withResolvers<never>()
  const startMs = performance.now()
  const dueMs = (number: number) => startMs + (number * 1_000) / options.perSecond
  let sent = 0
  let answered = 0
  /** Whether due requests wait for a connection. */
  let starved = false

  function sendNext(connection: Connection): void {
    const number = sent
    sent += 1
    if (!starved) latenessMs.push(performance.now() - dueMs(number))
    const set = headers[Math.floor(Math.random() * headers.length)]
    connection.ask(`GET ${drawPath(options.traffic)} HTTP/1.1\r\n${set}`).then(() => {
      latenciesMs[number] = performance.now() - dueMs(number)
      answered += 1
      idle.push(connection)
    }, failure.reject)
  }

  async function sendAll(): Promise<void> {
    while (answered < total) {
      const nowMs = performance.now()
      while (sent < total && dueMs(sent) <= nowMs) {
        const connection = idle.pop()
        if (connection === undefined) break
        sendNext(connection)
      }
      starved = sent < total && dueMs(sent) <= nowMs
      await turn()
    }
  }

  await Promise.race([sendAll(), failure.promise])
  for (const connection of idle) connection.close()
  const latencies = [...latenciesMs]
  return {
    answered,
    p25Ms: quantile(latencies, 0.25),
    p50Ms: quantile(latencies, 0.5),
    p75Ms: quantile(latencies, 0.75),
    p99Ms: quantile(latencies, 0.99),
    latenessP99Ms: quantile(latenessMs, 0.99),
  }
}
