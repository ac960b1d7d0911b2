import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { exchange } from './exchange.ts'

const INTERVAL_MS = 20
const CONNECTIONS_MAX = 64
/** Every nth visit opens a new connection. */
const FRESH_EVERY = 10

/**
 * What a bystander observed: the time of each visit in milliseconds, and every answer that was not
 * a redirect.
 */
export type BystanderTally = {
  readonly latenciesMs: number[]
  redirects: number
  readonly failures: Record<string, number>
}

/**
 * Visits one link 50 times a second, whether or not earlier visits have been answered, so that a
 * stall counts for every visit that meets it.
 */
export function startBystander(visit: { port: number; host: string; key: string }): {
  readonly tally: BystanderTally
  stop(): Promise<void>
} {
  const tally: BystanderTally = { latenciesMs: [], redirects: 0, failures: {} }
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX })
  const { port, host } = visit
  const where = { port, host, path: `/${visit.key}`, from: '127.4.0.1' }
  const underWay = new Set<Promise<void>>()
  let isStopping = false

  async function visitOnce(isFresh: boolean): Promise<void> {
    const startedMs = performance.now()
    const status = await exchange(isFresh ? where : { ...where, agent })
    tally.latenciesMs.push(performance.now() - startedMs)
    if (status === 302) tally.redirects += 1
    else tally.failures[status] = (tally.failures[status] ?? 0) + 1
  }

  async function visitRepeatedly(): Promise<void> {
    for (let nth = 0; !isStopping; nth += 1) {
      const visiting = visitOnce(nth % FRESH_EVERY === 0)
      underWay.add(visiting)
      visiting.then(() => underWay.delete(visiting))
      await sleep(INTERVAL_MS)
    }
    await Promise.all(underWay)
    agent.destroy()
  }

  const ended = visitRepeatedly()
  return {
    tally,
    stop() {
      isStopping = true
      return ended
    },
  }
}
