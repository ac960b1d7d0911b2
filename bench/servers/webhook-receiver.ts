import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { constants, setPriority } from 'node:os'
import { quantile } from '../support/statistics.ts'

/** How long calls took from the event to their arrival. */
export type ReceiverStats = {
  readonly calls: number
  readonly lagP50Ms: number
  readonly lagP95Ms: number
  readonly lagMaxMs: number
}

const [port, ...hosts] = process.argv.slice(2)
// Receivers are other machines: what they take must not be missing to the service.
setPriority(constants.priority.PRIORITY_LOW)

let lagsMs: number[] = []

/** Answers 204 to calls of webhooks; to `GET`, with what came since the last `DELETE`. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  if (request.method === 'DELETE') lagsMs = []
  if (request.method !== 'POST') {
    response.end(JSON.stringify(statsOf(lagsMs)))
    return
  }
  request.once('data', (chunk: Buffer) => {
    const [, at = ''] = /"timestamp":"([^"]+)"/.exec(chunk.toString('latin1', 0, 200)) ?? []
    lagsMs.push(Date.now() - Date.parse(at))
  })
  request.once('end', () => response.writeHead(204).end())
  request.resume()
}

function statsOf(lags: readonly number[]): ReceiverStats {
  if (lags.length === 0) return { calls: 0, lagP50Ms: 0, lagP95Ms: 0, lagMaxMs: 0 }
  const of = (share: number) => Math.round(quantile(lags, share))
  return { calls: lags.length, lagP50Ms: of(0.5), lagP95Ms: of(0.95), lagMaxMs: of(1) }
}

let listening = 0
for (const host of hosts) {
  createServer(answer).listen(Number(port), host, () => {
    listening += 1
    if (listening === hosts.length) process.stdout.write('ready\n')
  })
}
