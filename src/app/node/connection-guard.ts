import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import { Connections } from '../../platform/http/connections/connections.ts'
import { labelled, type MetricSource, plain } from '../../platform/metrics/metric.ts'
import { MinuteCounts } from '../../platform/work/minute-counts.ts'
import type { Config } from '../config/config.ts'

/** How many files a process has open besides connections: databases, journals, threads, requests of its own. */
const OTHER_FILES = 200
/** The lowest `TERSE_CONNECTIONS_MAX`. */
const CONNECTIONS_MIN = 10
/** Error codes of a client or network that went away: not malformed requests. */
const GONE = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNABORTED'])
/** Clients determine which error codes occur, and TLS alone has hundreds. */
const KINDS_MAX = 64

/** The line of Linux that has the limit of open files and sockets. */
const OPEN_FILES = /^Max open files +(\d+)/m

/** Limits the connections of a node, and reports those that were closed or malformed. */
export type ConnectionGuard = {
  readonly connections: Connections
  /** Counts a request or handshake that was refused for its form. */
  readonly noteMalformed: (error: string | NodeJS.ErrnoException) => void
  readonly metrics: MetricSource
  /** Logs the counts that were not logged yet. */
  stop(): void
}

export function openConnectionGuard(
  { connections: bounds, trustedProxies }: Pick<Config, 'connections' | 'trustedProxies'>,
  log: Logger,
  openFiles: number | undefined = openFilesMax(),
): ConnectionGuard {
  const closings = new MinuteCounts((reason, count) =>
    log.warn({ reason, count }, 'connections closed'),
  )
  const malformed = new MinuteCounts((kind, count) =>
    log.info({ kind, count }, 'malformed requests'),
  )
  const malformedTotals = new Map<string, number>()
  const openMax = connectionsWithin(openFiles)
  if (openMax < bounds.connectionsMax) {
    const { connectionsMax: requested } = bounds
    log.warn({ openFiles, connectionsMax: openMax, requested }, 'fewer connections than configured')
  }
  const connections = new Connections({
    bounds,
    trustedProxies,
    openMax,
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
        'Buffered answers that their clients have not read yet.',
        connections.unsentBytes,
      ),
      labelled(
        'counter',
        'terse_connections_closed_total',
        'Connections closed by a limit, by reason.',
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

/** Returns how many connections a process that may have so many files open can have. */
function connectionsWithin(openFiles = Number.POSITIVE_INFINITY): number {
  return Math.max(CONNECTIONS_MIN, openFiles - OTHER_FILES)
}

/**
 * Returns how many files and sockets this process may have open; undefined where the system sets no limit or does
 * not say. Node.js raises the limit, when it starts, to the most that the system allows.
 */
function openFilesMax(): number | undefined {
  try {
    const soft = OPEN_FILES.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}
