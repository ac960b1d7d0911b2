import type { Clock } from '../time/clock.ts'
import { Throttle } from './throttle.ts'

/** How often the others are told, and so for how long each may allow what the others do not know of. */
const TELL_INTERVAL_MS = 100

/** Events in one process: of which throttle, of which key, how many. Fewer than 0 were taken back. */
type Count = readonly [throttle: string, key: string, events: number]

/** The processes that count towards the same limits. */
export type Peers = {
  /** Tells all others; at best, for one of them may be about to end. */
  tell(counts: readonly Count[]): void
  onTold(listener: (counts: readonly Count[]) => void): void
}

/**
 * Throttles that count what happens in every process of a service. A process decides by itself, and
 * tells the others each 100 ms what it counted: so what comes at once in several of them may pass
 * the limit by what they count in that time, and never passes it as many times as there are processes
 * for longer.
 */
export class Throttles {
  readonly #clock: Clock
  readonly #peers: Peers | undefined
  readonly #throttles = new Map<string, Throttle>()
  /** What the others have not been told yet: by throttle, then by key. */
  #untold = new Map<string, Map<string, number>>()

  /** @param options.peers undefined for a process that is alone */
  constructor({ clock, peers }: { clock: Clock; peers: Peers | undefined }) {
    this.#clock = clock
    this.#peers = peers
    peers?.onTold((counts) => {
      for (const [name, key, events] of counts) this.#throttles.get(name)?.add(key, events)
    })
  }

  /** @param name the same in every process, and of one throttle alone */
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
    if (this.#untold.size === 0) setTimeout(() => this.#tell(), TELL_INTERVAL_MS).unref()
    const counts = this.#untold.get(name) ?? new Map<string, number>()
    counts.set(key, (counts.get(key) ?? 0) + events)
    this.#untold.set(name, counts)
  }

  #tell(): void {
    const untold = this.#untold
    this.#untold = new Map()
    this.#peers?.tell(
      [...untold].flatMap(([name, counts]) =>
        [...counts].map(([key, events]) => [name, key, events] as const),
      ),
    )
  }
}
