import { Readable } from 'node:stream'
import type { LiveClick, LiveClicksQuery, LiveEndReason, LiveStart } from '@terse/contract/clicks'
import type { KeyspaceStore } from '../hosts/index.ts'
import type { Actor } from '../identity/index.ts'
import { isUuid } from '../platform/crypto/random.ts'
import { Failure } from '../platform/failure.ts'
import { type Clock, formatInstant } from '../platform/time/clock.ts'
import { SerialQueue } from '../platform/work/async.ts'
import type { FairQueue, FairQueueOptions } from '../platform/work/fair-queue.ts'
import type { Store } from '../storage/store.ts'
import { CLICK_DIMENSIONS } from './click.ts'
import { presentLive } from './click-export.ts'
import { clickFilter, linkFilter } from './report/click-filter.ts'
import {
  type ClickFeed,
  type FedClick,
  type FeedPosition,
  isSelected,
  type LiveSelection,
  type RecentClicks,
} from './store/click-feed.ts'
import { minuteOf } from './tally/click-day.ts'

/** The limits of one process. More streams are refused instead of waiting. */
export const LIVE_QUEUE: FairQueueOptions = {
  work: 'live streams',
  concurrency: 200,
  concurrencyPerOwner: 10,
  waitingPerOwnerMax: 0,
  waitingMax: 0,
  deadlineMs: 10_000,
}

const INTERVAL_MS = 1_000
const MINUTE_MICROS = 60 * 1_000_000

type Dependencies = {
  readonly store: Store<{ readonly keyspaces: KeyspaceStore; readonly feed: ClickFeed }>
  readonly clock: Clock
  readonly links: {
    findMany(actor: Actor, ids: readonly string[]): Promise<readonly { readonly seq: number }[]>
  }
  readonly domains: {
    get(actor: Actor, id: string): Promise<{ readonly host: string }>
    getByHost(actor: Actor, name: string): Promise<{ readonly host: string }>
  }
  /** See `LIVE_QUEUE`. */
  readonly streams: FairQueue
  /** Reading the last minutes takes a chart's turn. */
  readonly charts: FairQueue
  readonly onError: (error: unknown) => void
}

/**
 * Sends new clicks to the clients that watch them. While there are some, one tail reads what was ingested by
 * any process, for all of them together.
 */
export class LiveClicks {
  readonly #deps: Dependencies
  readonly #streams = new Set<LiveStream>()
  /** Reads of the tail, and the positions at which streams join it. */
  readonly #turns = new SerialQueue()
  /** Undefined while there is no stream. */
  #position: FeedPosition | undefined
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Returns the text of a stream of server-sent events.
   *
   * @param mayContinue asked every 30 s whether the actor may still watch
   * @throws {Failure} `not_found`, `unavailable`
   * @throws {QueueRefusal} when the workspace or the process has too many streams
   */
  async open(
    actor: Actor,
    query: LiveClicksQuery,
    mayContinue: () => Promise<boolean>,
  ): Promise<Readable> {
    const { clock, streams, charts, store } = this.#deps
    const selection = await this.#select(actor, query)
    const release = await streams.acquire(actor.workspaceId)
    const stream = new LiveStream({
      selection,
      mayContinue,
      onEnd: () => {
        release()
        this.#remove(stream)
      },
    })
    try {
      const position = await this.#turns.run(() => this.#join(stream))
      const wanted = { fromMicros: this.#fromMicros(), latestMax: CLICKS_MAX }
      const recent = await charts.run(actor.workspaceId, () =>
        store.read.feed.recent(position, selection, wanted),
      )
      stream.start(recent, clock.nowMicros())
      return stream.text
    } catch (error) {
      stream.cancel()
      throw error
    }
  }

  /** Ends all streams, and refuses new ones. */
  stop(): void {
    this.#isStopped = true
    this.#endAll('stopping')
  }

  async #join(stream: LiveStream): Promise<FeedPosition> {
    const position = this.#position ?? (await this.#deps.store.read.feed.end(this.#fromMicros()))
    if (this.#isStopped)
      throw Failure.unavailable(new Error('the node is stopping'), { kind: 'stopping' })
    this.#position = position
    this.#streams.add(stream)
    this.#timer ??= setTimeout(this.#tick, INTERVAL_MS).unref()
    return position
  }

  #remove(stream: LiveStream): void {
    this.#streams.delete(stream)
    if (this.#streams.size > 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#position = undefined
  }

  readonly #tick = async (): Promise<void> => {
    try {
      await this.#turns.run(() => this.#readOn())
    } catch (error) {
      this.#deps.onError(error)
      this.#endAll('interrupted')
    }
    // A stream may have joined since, and started it.
    clearTimeout(this.#timer)
    this.#timer = this.#streams.size > 0 ? setTimeout(this.#tick, INTERVAL_MS).unref() : undefined
  }

  async #readOn(): Promise<void> {
    if (this.#position === undefined) return
    const workspaceIds = [...new Set([...this.#streams].map((each) => each.selection.workspaceId))]
    const linkValues = [...this.#streams].some(({ selection }) => selection.linkFilter.size > 0)
    const wanted = { workspaceIds, fromMicros: this.#fromMicros(), linkValues }
    const position = await this.#deps.store.read.feed.since(this.#position, wanted, (clicks) => {
      for (const stream of this.#streams) stream.take(clicks)
    })
    if (this.#streams.size > 0) this.#position = position
    for (const stream of this.#streams) stream.flush()
  }

  #endAll(reason: LiveEndReason): void {
    for (const stream of [...this.#streams]) stream.end(reason)
  }

  #fromMicros(): number {
    return firstMinute(this.#deps.clock.nowMicros()) * MINUTE_MICROS
  }

  /** @throws {Failure} `not_found`; `validation_failed` for what is no name of a domain */
  async #select(actor: Actor, query: LiveClicksQuery): Promise<LiveSelection> {
    const { store, links, domains } = this.#deps
    const { workspaceId } = actor
    const { link, domain, bots = 'exclude' } = query
    const found = link && (await links.findMany(actor, link))
    if (found !== undefined && found.length < new Set(link).size) throw Failure.notFound('Link')
    const keyspaceIds = domain && new Set<number>()
    for (const name of domain ?? []) {
      const isId = isUuid(name)
      const { host } = await (isId ? domains.get(actor, name) : domains.getByHost(actor, name))
      const keyspaceId = await store.read.keyspaces.find(workspaceId, host)
      // Every claim has a keyspace, so the claim was deleted between the two reads.
      if (keyspaceId === undefined) throw Failure.notFound('Domain')
      keyspaceIds?.add(keyspaceId)
    }
    const linkSeqs = found && new Set(found.map(({ seq }) => seq))
    const filter = clickFilter(query, CLICK_DIMENSIONS)
    return { workspaceId, linkSeqs, keyspaceIds, filter, linkFilter: linkFilter(query), bots }
  }
}

const HEARTBEAT_MS = 15_000
const CHECK_INTERVAL_MS = 30_000
/** Minutes that the first event counts. */
const MINUTES = 30
/** Clicks in one event. */
export const CLICKS_MAX = 200
/** A client that leaves more than this unread is cut off. */
const UNREAD_BYTES_MAX = 256 * 1024

/** The beginning of the first of the minutes that end with that of `nowMicros`. */
function firstMinute(nowMicros: number): number {
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
