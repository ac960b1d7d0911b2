import type { Peers } from '../../platform/limits/throttle.ts'
import { parseToWorker, type ToSupervisor } from './messages.ts'

/** Sends one request to every process of the service, the caller's own included. */
export type Broadcast = {
  /** Returns the responses of the processes that answered in time. */
  request(): Promise<readonly string[]>
  /** @param respond produces this process's response to each request */
  onRequest(respond: () => Promise<string>): void
}

/** The descriptor of a worker's first listening socket: the next one after the IPC channel. */
export const FIRST_LISTENING_DESCRIPTOR = 4

/** A worker's side of the channel to its supervisor. */
type SupervisorLink = {
  /** Settles when the worker must stop, with how. */
  readonly stopAsked: Promise<HowToStop>
  readonly peers: Peers
  readonly broadcast: Broadcast
  /** Reports that the worker answers requests. */
  ready(greeting: string): void
  /** Reports that a balancer has requested the readiness of the service. */
  probed(): void
  close(): void
}

type HowToStop = {
  /** For how long to keep serving while reporting that the service is not ready. */
  readonly delayMs: number
}

const AT_ONCE: HowToStop = { delayMs: 0 }
/** Balancers probe every few seconds; the supervisor needs a report only now and then. */
const PROBED_INTERVAL_MS = 5_000

/** Longer than the supervisor waits for the answers of the processes. */
const BROADCAST_TIMEOUT_MS = 2_000

/** @throws when this process has no supervisor */
export function linkToSupervisor(): SupervisorLink {
  if (process.send === undefined) {
    throw new Error('This command is internal: `terse serve --processes` runs it.')
  }
  const listeners: Parameters<Peers['onReceived']>[0][] = []
  const asked = Promise.withResolvers<HowToStop>()
  let probedAtMs = Number.NEGATIVE_INFINITY
  let answer: (() => Promise<string>) | undefined
  let gathering: PromiseWithResolvers<readonly string[]> | undefined
  process.on('message', (text) => {
    const message = parseToWorker(text)
    if (message?.kind === 'stop') asked.resolve(message)
    if (message?.kind === 'counts') for (const listener of listeners) listener(message.counts)
    if (message?.kind === 'answers') gathering?.resolve(message.texts)
    if (message?.kind === 'question') {
      const { broadcast } = message
      void answer?.().then((text) => tell({ kind: 'answer', broadcast, text }))
    }
  })
  // When the supervisor is killed its workers stop, so that the port becomes free.
  process.on('disconnect', () => asked.resolve(AT_ONCE))
  process.on('SIGTERM', () => asked.resolve(AT_ONCE))
  // A terminal signals every process of the group; the supervisor decides what its workers do.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined)

  function tell(message: ToSupervisor): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
  }

  /** Callers that arrive while a broadcast is running share its result. */
  async function request(): Promise<readonly string[]> {
    if (gathering !== undefined) return gathering.promise
    gathering = Promise.withResolvers()
    const timeout = setTimeout(() => gathering?.resolve([]), BROADCAST_TIMEOUT_MS)
    tell({ kind: 'ask' })
    try {
      return await gathering.promise
    } finally {
      clearTimeout(timeout)
      gathering = undefined
    }
  }

  return {
    stopAsked: asked.promise,
    peers: {
      send: (counts) => tell({ kind: 'counts', counts }),
      onReceived: (listener) => listeners.push(listener),
    },
    broadcast: {
      request,
      onRequest(respond) {
        answer = respond
      },
    },
    ready: (greeting) => tell({ kind: 'ready', greeting }),
    probed() {
      if (performance.now() - probedAtMs < PROBED_INTERVAL_MS) return
      probedAtMs = performance.now()
      tell({ kind: 'probed' })
    },
    close() {
      if (process.connected) process.disconnect?.()
    },
  }
}
