import { Agent, request } from 'node:http'
import { BROWSER } from '../support/visit.ts'

/** Visitors at a time. */
const VISITORS = 8

/** What came of the visits to one link, over all services that were started on its data. */
export type Tally = { started: number; answered: number; failed: number }

/** Visits that go on until they are told to stop, or nobody answers any more. */
export type Visitors = {
  readonly tally: Tally
  /** Starts no more visits; settles when those under way have ended. */
  stop(): Promise<void>
  /** Settles when nobody gets an answer any more. */
  readonly ended: Promise<void>
}

/** Lets visitors follow a link of this port, each one visit after the other. */
export function sendVisitors(port: number, path: string): Visitors {
  const tally: Tally = { started: 0, answered: 0, failed: 0 }
  const agent = new Agent({ keepAlive: true, maxSockets: VISITORS })
  let stopping = false

  async function visitAgainAndAgain(): Promise<void> {
    while (!stopping) {
      tally.started += 1
      const answered = await visitOnce(agent, port, path)
      if (answered) tally.answered += 1
      else {
        tally.failed += 1
        return
      }
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
