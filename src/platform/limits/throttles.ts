import type { Clock } from '../time/clock.ts'
import { Throttle } from './throttle.ts'

/** Interval of the exchange between processes; for this long each may allow events unknown to the others. */
const SEND_INTERVAL_MS = 100

/** Events of one key in one process; a negative number is a refund. */
type Count = readonly [throttle: string, key: string, events: number]

/** The other processes that count towards the same limits. */
export type Peers = {
  /** Sends counts to all other processes; best effort, because one of them may be about to end. */
  send(counts: readonly Count[]): void
  onReceived(listener: (counts: readonly Count[]) => void): void
}

/**
 * Throttles whose limits hold across all processes of a service. Each process decides on its own and sends
 * its counts to the others every 100 ms. Processes may therefore exceed a limit together by what they count
 * within 100 ms, but not permanently by the number of processes.
 */
export class Throttles {
  readonly #clock: Clock
  readonly #peers: Peers | undefined
  readonly #throttles = new Map<string, Throttle>()
  /** Counts that have not been sent yet, by throttle and key. */
  #unsent = new Map<string, Map<string, number>>()

  /** @param options.peers undefined when the service has one process */
  constructor({ clock, peers }: { clock: Clock; peers: Peers | undefined }) {
    this.#clock = clock
    this.#peers = peers
    peers?.onReceived((counts) => {
      for (const [name, key, events] of counts) this.#throttles.get(name)?.add(key, events)
    })
  }

  /** @param name unique for each throttle, and the same in every process */
  create(
    name: string,
    limits: { limit: number; windowSeconds: number; keysMax: number },
  ): Throttle {
    const onCount = this.#peers && ((key: string, events: number) => this.#note(name, key, events))
    const throttle = new Throttle({ clock: this.#clock, ...limits, onCount })
    this.#throttles.set(name, throttle)
    return throttle
  }

  #note(name: string, key: string, events: number): void {
    if (this.#unsent.size === 0) setTimeout(() => this.#send(), SEND_INTERVAL_MS).unref()
    const counts = this.#unsent.get(name) ?? new Map<string, number>()
    counts.set(key, (counts.get(key) ?? 0) + events)
    this.#unsent.set(name, counts)
  }

  #send(): void {
    const unsent = this.#unsent
    this.#unsent = new Map()
    this.#peers?.send(
      [...unsent].flatMap(([name, counts]) =>
        [...counts].map(([key, events]) => [name, key, events] as const),
      ),
    )
  }
}
