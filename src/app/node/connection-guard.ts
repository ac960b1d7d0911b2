import type { Logger } from 'pino'
import { Connections } from '../../platform/http/connections/connections.ts'
import { labelled, type MetricSource, plain } from '../../platform/metrics/metric.ts'
import { MinuteCounts } from '../../platform/work/minute-counts.ts'
import type { Config } from '../config/read-config.ts'

/** Not malformed: the client has gone, or its network. */
const GONE = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNABORTED'])
/** Clients choose among the kinds of what is wrong, of which TLS alone knows hundreds. */
const KINDS_MAX = 64

/** What a node does against connections that cost too much, and tells of them. */
export type ConnectionGuard = {
  readonly connections: Connections
  /** Counts a request or handshake that was refused for its form. */
  readonly noteMalformed: (error: string | NodeJS.ErrnoException) => void
  readonly metrics: MetricSource
  /** Reports what was counted and not reported yet. */
  stop(): void
}

export function openConnectionGuard(
  { connections: bounds, trustedProxies }: Pick<Config, 'connections' | 'trustedProxies'>,
  log: Logger,
): ConnectionGuard {
  const closings = new MinuteCounts((reason, count) =>
    log.warn({ reason, count }, 'connections closed'),
  )
  const malformed = new MinuteCounts((kind, count) =>
    log.info({ kind, count }, 'malformed requests'),
  )
  const malformedTotals = new Map<string, number>()
  const connections = new Connections({
    bounds,
    trustedProxies,
    onClose: (reason) => closings.note(reason),
  })
  return {
    connections,
    noteMalformed(error) {
      const code = typeof error === 'string' ? error : (error.code ?? error.name)
      if (GONE.has(code)) return
      malformed.note(code)
      const isCounted = malformedTotals.has(code) || malformedTotals.size < KINDS_MAX
      const kind = isCounted ? code : 'other'
      malformedTotals.set(kind, (malformedTotals.get(kind) ?? 0) + 1)
    },
    metrics: () => [
      plain('gauge', 'terse_connections', 'Open connections of clients.', connections.count),
      plain(
        'gauge',
        'terse_unsent_answer_bytes',
        'Answers in memory that their clients have not read yet.',
        connections.unsentBytes,
      ),
      labelled(
        'counter',
        'terse_connections_closed_total',
        'Connections closed by a bound, by reason.',
        'reason',
        Object.entries(connections.closed),
      ),
      labelled(
        'counter',
        'terse_malformed_requests_total',
        'Requests and TLS handshakes refused for their form, by kind.',
        'kind',
        malformedTotals,
      ),
    ],
    stop() {
      closings.flush()
      malformed.flush()
    },
  }
}
