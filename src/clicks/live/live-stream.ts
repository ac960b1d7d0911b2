import { Readable } from 'node:stream'
import type { LiveClick, LiveEndReason, LiveStart } from '@terse/contract/clicks'
import { formatInstant } from '../../platform/time/clock.ts'
import { presentClick } from '../click-export.ts'
import {
  type FedClick,
  isSelected,
  type LiveSelection,
  type RecentClicks,
} from '../store/click-feed.ts'
import { minuteOf } from '../tally/click-day.ts'

const HEARTBEAT_MS = 15_000
const CHECK_INTERVAL_MS = 30_000
/** Minutes that the first event counts. */
const MINUTES = 30
/** Clicks in one event. */
export const CLICKS_MAX = 200
/** A client that leaves more than this unread is cut off. */
const UNREAD_BYTES_MAX = 256 * 1024

const MINUTE_MICROS = 60 * 1_000_000

/** The beginning of the first of the minutes that end with that of `nowMicros`. */
export function firstMinute(nowMicros: number): number {
  return minuteOf(nowMicros) - MINUTES + 1
}

/** One client that watches clicks, as server-sent events. */
export class LiveStream {
  readonly selection: LiveSelection
  readonly text = new Readable({ read() {} })
  readonly #mayContinue: () => Promise<boolean>
  readonly #onEnd: () => void
  readonly #timers: readonly NodeJS.Timeout[]
  /** Clicks since the last event. */
  #clicks: LiveClick[] = []
  #leftOut = 0
  #hasStarted = false
  #hasEnded = false

  /**
   * @param options.mayContinue asked every 30 s; the stream ends when it resolves to false
   * @param options.onEnd called once, when nothing more will be sent
   */
  constructor(options: {
    selection: LiveSelection
    mayContinue: () => Promise<boolean>
    onEnd: () => void
  }) {
    this.selection = options.selection
    this.#mayContinue = options.mayContinue
    this.#onEnd = options.onEnd
    this.#timers = [
      setInterval(() => this.#send(': heartbeat\n\n'), HEARTBEAT_MS).unref(),
      setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref(),
    ]
    this.text.once('close', () => this.#finish())
  }

  /** Sends what came before the clicks that `take` is given, and what those are meanwhile. */
  start({ minutes, latest }: RecentClicks, nowMicros: number): void {
    const first = firstMinute(nowMicros)
    const counted = Array.from({ length: MINUTES }, (_, nth) => ({
      start: formatInstant((first + nth) * MINUTE_MICROS),
      clicks: minutes.get(first + nth) ?? 0,
    }))
    const from = formatInstant(first * MINUTE_MICROS)
    const clicks = latest.map(presentLive).reverse()
    this.#hasStarted = true
    this.#sendEvent('start', { from, minutes: counted, clicks } satisfies LiveStart)
    this.flush()
  }

  /** Keeps the clicks that the stream shows, for its next event. */
  take(clicks: readonly FedClick[]): void {
    for (const click of clicks) {
      if (!isSelected(this.selection, click)) continue
      if (this.#clicks.length < CLICKS_MAX) this.#clicks.push(presentLive(click))
      else this.#leftOut += click.count
    }
  }

  /** Sends the clicks that were kept. */
  flush(): void {
    if (!this.#hasStarted || this.#clicks.length === 0) return
    const data = { clicks: this.#clicks, left_out: this.#leftOut }
    this.#clicks = []
    this.#leftOut = 0
    this.#sendEvent('clicks', data)
  }

  end(reason: LiveEndReason): void {
    if (this.#hasEnded) return
    this.#sendEvent('end', { reason })
    if (!this.text.destroyed) this.text.push(null)
    this.#finish()
  }

  /** Ends it before anything was sent. */
  cancel(): void {
    this.text.destroy()
    this.#finish()
  }

  #sendEvent(event: string, data: object): void {
    this.#send(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  #send(text: string): void {
    if (this.#hasEnded || this.text.destroyed) return
    if (this.text.readableLength + text.length > UNREAD_BYTES_MAX) this.cancel()
    else this.text.push(text)
  }

  async #check(): Promise<void> {
    if (!(await this.#mayContinue())) this.end('unauthorized')
  }

  #finish(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    for (const timer of this.#timers) clearInterval(timer)
    this.#onEnd()
  }
}

function presentLive(click: FedClick): LiveClick {
  const { visitor: _, ...shown } = presentClick(click)
  return shown
}
