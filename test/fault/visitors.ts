import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { random } from '../support/random.ts'
import { BROWSER } from '../support/visit.ts'

/** Number of concurrent visitors. */
export const VISITORS = 8

/** Results of the visits to one link, over all services that were started on its data. */
type Tally = {
  started: number
  answered: number
  failed: number
  /** The slowest of all answered visits. */
  longestMs: number
}

/** Visits that continue until they are stopped, or the service does not answer any more. */
export type Visitors = {
  readonly tally: Tally
  /** Starts no more visits, and settles when those in progress have ended. */
  stop(): Promise<void>
  /** Settles when the service does not answer any more. */
  readonly ended: Promise<void>
}

export type VisitorHabits = {
  /** Whether a visitor keeps its connection for the next visit, as browsers and proxies do. */
  readonly keepAlive?: boolean
  /** Whether a visitor continues after a visit that failed. */
  readonly persistent?: boolean
  /** The longest pause of a visitor between two visits. */
  readonly pauseMsMax?: number
}

/**
 * Sends visitors to links of this port; each makes one visit after the other.
 *
 * @param path of the link, or a function that picks one for each visit
 */
export function sendVisitors(
  port: number,
  path: string | (() => string),
  habits: VisitorHabits = {},
): Visitors {
  const { keepAlive = true, persistent = false, pauseMsMax = 0 } = habits
  const tally: Tally = { started: 0, answered: 0, failed: 0, longestMs: 0 }
  const agent = new Agent({ keepAlive, maxSockets: VISITORS, scheduling: 'fifo' })
  let stopping = false

  async function visitAgainAndAgain(): Promise<void> {
    while (!stopping) {
      tally.started += 1
      const startedAtMs = performance.now()
      const answered = await visitOnce(agent, port, typeof path === 'string' ? path : path())
      if (answered) {
        tally.answered += 1
        tally.longestMs = Math.max(tally.longestMs, performance.now() - startedAtMs)
      } else {
        tally.failed += 1
        if (!persistent) return
      }
      if (pauseMsMax > 0) await sleep(random() * pauseMsMax)
    }
  }

  const ended = Promise.all(Array.from({ length: VISITORS }, visitAgainAndAgain)).then(() =>
    agent.destroy(),
  )
  return {
    tally,
    ended,
    stop() {
      stopping = true
      return ended
    },
  }
}

/** True when the whole redirect has arrived. */
function visitOnce(agent: Agent, port: number, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { host: 'localhost', 'user-agent': BROWSER }
    request({ host: '127.0.0.1', port, path, agent, headers }, (response) => {
      response.on('error', () => resolve(false))
      response.on('close', () => resolve(response.complete && response.statusCode === 302))
      response.resume()
    })
      .on('error', () => resolve(false))
      .end()
  })
}
