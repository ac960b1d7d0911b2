import type { Peers } from '../../platform/limits/throttles.ts'
import type { Broadcast } from '../../platform/work/broadcast.ts'
import { parseToWorker, type ToSupervisor } from './messages.ts'

/** The descriptor under which a worker finds its first listening socket, right after the channel. */
export const FIRST_LISTENING_DESCRIPTOR = 4

/** A worker's side of the channel to its supervisor. */
export type SupervisorLink = {
  /** Settles when the worker is to stop, with how. */
  readonly stopAsked: Promise<HowToStop>
  readonly peers: Peers
  readonly broadcast: Broadcast
  /** Says that the worker answers requests. */
  ready(greeting: string): void
  /** Says that somebody wanted to know whether the service is ready. */
  probed(): void
  close(): void
}

type HowToStop = {
  /** For how long to serve on and say that the service is not ready. */
  readonly delayMs: number
}

const AT_ONCE: HowToStop = { delayMs: 0 }
/** Balancers ask every few seconds; the supervisor need not hear of each time. */
const PROBED_INTERVAL_MS = 5_000

/** Longer than the supervisor waits for the processes. */
const BROADCAST_TIMEOUT_MS = 2_000

/** @throws where nobody supervises this process */
export function linkToSupervisor(): SupervisorLink {
  if (process.send === undefined) {
    throw new Error('This command is for `terse serve --processes`, which runs it.')
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
  // A supervisor that was killed leaves nobody behind who would hold its port.
  process.on('disconnect', () => asked.resolve(AT_ONCE))
  process.on('SIGTERM', () => asked.resolve(AT_ONCE))
  // A terminal tells every process of the group; what a worker does then, its supervisor decides.
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
