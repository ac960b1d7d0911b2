import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../platform/time/clock.ts'
import {
  type Change,
  type ChangeListener,
  type ChangeLog,
  limitChange,
} from '../../storage/changes.ts'
import type { Store } from '../../storage/store.ts'
import type { ClickLeaseStore } from '../store/click-lease-store.ts'
import type { LeaseAnswer } from './lease.ts'

/** A link of which a number of people may reach the destination. */
export type LimitedLink = {
  readonly seq: number
  /** People's clicks, counted from the first one on the link. */
  readonly maxClicks: number
}

export type TakeOutcome =
  /** The visit may be answered; `giveBack` if it is not. */
  | 'taken'
  /** The link has had all of its clicks. */
  | 'used-up'
  /** Other processes hold the last clicks, and have not returned them in time. */
  | 'busy'
  /** The link has no limit any more. */
  | 'unlimited'

/** Reserves clicks of links with a limit, before the visit is answered. */
export type ClickLimits = {
  /**
   * Takes one click of a limit; without a promise while the process holds some.
   *
   * @throws {Failure} `unavailable` when the process holds none and the database is unavailable
   */
  take(link: LimitedLink): TakeOutcome | Promise<TakeOutcome>
  /** Returns a click that was taken for a visit that was not answered. */
  giveBack(linkSeq: number): void
  /** Whether the link is known to have had all of its clicks. */
  isUsedUp(link: LimitedLink): boolean
}

const WAITS = {
  /** How long a visit waits for clicks that other processes hold: they return them within 250 ms. */
  waitMsMax: 1_500,
  retryIntervalMs: 100,
  /** After a visit got no click within that time, other visits of the link are `busy` at once for this time. */
  busyMs: 1_000,
}
/** Visits of one link that wait. */
const WAITING_MAX = 1_000
/** How often the database is asked again about a used-up limit that has visitors: an ended process returns its clicks. */
const RECHECK_MS = 5_000
/** The clicks held of a link are returned after this time without visits. */
const IDLE_MS = 60_000
const TICK_MS = 5_000
/** Links whose clicks are returned at a time. */
const RETURNS_PER_TICK = 100
/** A link without visits is forgotten after this time. */
const FORGOTTEN_AFTER_MS = 10 * 60_000

/** What this process knows of a link's limit. */
class LinkLimit {
  readonly seq: number
  /** The limit for which the fields below hold. */
  maxClicks: number
  /** See `LeaseRequest`. */
  granted: number | undefined
  held = 0
  /** When so few are held, more are requested ahead of need; -1 for not before they are needed. */
  lowMark = -1
  isUsedUp = false
  isUnlimited = false
  /** How many clicks the database lists as held here; at least 1 where that is unknown. */
  reported = 0
  /** Visits that wait for clicks. */
  waiting = 0
  asking: Promise<LeaseAnswer> | undefined
  checkedMs = Number.NEGATIVE_INFINITY
  busyUntilMs = Number.NEGATIVE_INFINITY
  visitedMs = 0

  constructor({ seq, maxClicks }: LimitedLink, granted: number | undefined) {
    this.seq = seq
    this.maxClicks = maxClicks
    this.granted = granted
  }

  /** Gives up what is held: the next request returns it. */
  giveUp(): void {
    if (this.held === 0) return
    this.granted = (this.granted ?? 0) - this.held
    this.held = 0
    this.lowMark = -1
  }

  /** Starts over with another limit, of which fewer clicks may be left than are held. */
  adopt(maxClicks: number): void {
    this.maxClicks = maxClicks
    this.isUsedUp = false
    this.isUnlimited = false
    this.busyUntilMs = Number.NEGATIVE_INFINITY
    this.giveUp()
  }
}

type Options = {
  readonly store: Store<{ readonly clickLeases: ClickLeaseStore; readonly changes: ChangeLog }>
  readonly clock: Clock
  /** The journal of this process. */
  readonly journalId: string
  /** For how long visits wait for other processes; `WAITS` when left out. */
  readonly waits?: typeof WAITS
  /** Called with errors of requests that no visit waits for. `take` throws the others. */
  readonly onError: (error: unknown) => void
}

/**
 * Leases clicks of limits to this process. The database grants each process a share of what is left; the process takes
 * from it in memory, and requests the next share before it is used up. Each click that was taken is journalled as such,
 * and ingesting it moves it from the lease to the link's counter. So what the leases and the counter add up to never
 * exceeds the limit, and what a killed process had is in its journal or returns to the pool with its lease, which ends once
 * the journal is ingested.
 */
export class LeasedClicks implements ClickLimits, ChangeListener {
  readonly #options: Options
  readonly #limits = new Map<number, LinkLimit>()
  /** What the process was given of links that it does not know: nothing, until it forgets the first. */
  #unknownGranted: number | undefined = 0
  #timer: NodeJS.Timeout | undefined
  #isFailing = false
  #isStopped = false

  constructor(options: Options) {
    this.#options = options
  }

  /** The links whose limit is known here. */
  get size(): number {
    return this.#limits.size
  }

  /** Starts to return clicks that no visitor comes for. */
  start(): void {
    this.#timer = setInterval(() => this.tick(performance.now()), TICK_MS)
    this.#timer.unref()
  }

  /** Waits for what is under way. The lease of this process ends with its heartbeat. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    await Promise.allSettled([...this.#limits.values()].map(({ asking }) => asking))
  }

  take(link: LimitedLink): TakeOutcome | Promise<TakeOutcome> {
    const limit = this.#limitOf(link)
    const nowMs = performance.now()
    limit.visitedMs = nowMs
    if (limit.held > 0) {
      limit.held -= 1
      if (limit.held <= limit.lowMark) {
        limit.lowMark = -1
        this.#askBehind(limit, 1)
      }
      return 'taken'
    }
    return this.#isUsedUp(limit, nowMs) ? 'used-up' : this.#wait(limit, nowMs)
  }

  giveBack(linkSeq: number): void {
    const limit = this.#limits.get(linkSeq)
    // It was visited a moment ago, so it is known.
    if (limit === undefined) return
    limit.held += 1
    limit.isUsedUp = false
  }

  isUsedUp(link: LimitedLink): boolean {
    const limit = this.#limits.get(link.seq)
    if (limit === undefined || limit.maxClicks !== link.maxClicks || limit.held > 0) return false
    return this.#isUsedUp(limit, performance.now())
  }

  /** Returns what is held of limits for which another process has visitors. */
  apply(changes: readonly Change[]): void {
    for (const { kind, subject } of changes) {
      const limit = kind === 'limit' ? this.#limits.get(Number(subject)) : undefined
      if (limit !== undefined) this.#return(limit)
    }
  }

  /** Nothing to do: a process that waits for clicks repeats its change. */
  forgetAll(): void {}

  forgetAbsences(): void {}

  /** Returns clicks that no visitor has come for, and forgets links without visits. */
  tick(nowMs: number): void {
    let returns = 0
    for (const limit of this.#limits.values()) {
      const idleMs = nowMs - limit.visitedMs
      if (limit.waiting > 0 || limit.asking !== undefined || idleMs < IDLE_MS) continue
      if (limit.held > 0 || limit.reported > 0) {
        returns += 1
        if (returns > RETURNS_PER_TICK) return
        this.#return(limit)
      } else if (idleMs > FORGOTTEN_AFTER_MS) {
        this.#limits.delete(limit.seq)
        this.#unknownGranted = undefined
      }
    }
  }

  #limitOf(link: LimitedLink): LinkLimit {
    const known = this.#limits.get(link.seq)
    if (known === undefined) {
      const limit = new LinkLimit(link, this.#unknownGranted)
      this.#limits.set(link.seq, limit)
      return limit
    }
    if (known.maxClicks !== link.maxClicks) known.adopt(link.maxClicks)
    return known
  }

  #isUsedUp(limit: LinkLimit, nowMs: number): boolean {
    if (!limit.isUsedUp) return false
    if (nowMs - limit.checkedMs > RECHECK_MS) {
      limit.checkedMs = nowMs
      this.#askBehind(limit, 0)
    }
    return true
  }

  /** Waits until the database has granted a click, or has none left. */
  async #wait(limit: LinkLimit, startedMs: number): Promise<TakeOutcome> {
    if (startedMs < limit.busyUntilMs || limit.waiting >= WAITING_MAX) return 'busy'
    const { waitMsMax, retryIntervalMs, busyMs } = this.#options.waits ?? WAITS
    limit.waiting += 1
    try {
      for (;;) {
        const answer = await this.#ask(limit, limit.waiting)
        if (limit.held > 0) {
          limit.held -= 1
          return 'taken'
        }
        if (limit.isUnlimited) return 'unlimited'
        if (limit.isUsedUp) return 'used-up'
        // Other visits took what was granted, or the request wanted none: there may be more.
        if (answer.more > 0 || answer.left > 0) continue
        const nowMs = performance.now()
        if (nowMs - startedMs > waitMsMax) {
          limit.busyUntilMs = nowMs + busyMs
          return 'busy'
        }
        await sleep(retryIntervalMs)
      }
    } finally {
      limit.waiting -= 1
    }
  }

  /** Returns what is held, or reports that it is taken. */
  #return(limit: LinkLimit): void {
    limit.giveUp()
    const ask = () => {
      if (limit.reported > 0) this.#askBehind(limit, 0)
    }
    if (limit.asking === undefined) ask()
    // Under way with what was held before.
    else limit.asking.then(ask, ask)
  }

  /** Asks while no visitor waits for the answer. */
  #askBehind(limit: LinkLimit, wanted: number): void {
    // The lease that it begins would outlive this process.
    if (this.#isStopped) return
    this.#ask(limit, wanted).then(
      () => {
        this.#isFailing = false
      },
      (error) => {
        if (!this.#isFailing) this.#options.onError(error)
        this.#isFailing = true
      },
    )
  }

  /** One request of a link at a time: each states what the process has. */
  #ask(limit: LinkLimit, wanted: number): Promise<LeaseAnswer> {
    limit.asking ??= this.#renew(limit, wanted).finally(() => {
      limit.asking = undefined
    })
    return limit.asking
  }

  async #renew(limit: LinkLimit, wanted: number): Promise<LeaseAnswer> {
    const { store, clock, journalId } = this.#options
    const { seq: linkSeq, granted, held } = limit
    const isCalling = limit.waiting > 0
    const atMicros = clock.nowMicros()
    // The first request wants none: if its answer were lost, what it had granted would stay unknown.
    const request = {
      ...{ linkSeq, journalId, granted, held, atMicros },
      wanted: granted === undefined ? 0 : wanted,
    }
    try {
      const answer = await store.write(async ({ clickLeases, changes }) => {
        const renewed = await clickLeases.renew(request)
        const isStuck = renewed.more === 0 && renewed.left === 0 && renewed.heldElsewhere > 0
        if (isCalling && isStuck) await changes.append(limitChange(linkSeq), atMicros)
        return renewed
      })
      limit.reported = held + answer.more
      this.#accept(limit, answer)
      return answer
    } catch (error) {
      // It may have been committed: then the database lists clicks as held.
      limit.reported = Math.max(limit.reported, 1)
      throw error
    }
  }

  #accept(limit: LinkLimit, answer: LeaseAnswer): void {
    const { maxClicks, granted, more, left, heldElsewhere } = answer
    // What was given up meanwhile is not in the answer.
    limit.granted = limit.granted === undefined ? granted : limit.granted + more
    limit.held += more
    limit.lowMark = more > 1 ? Math.floor(limit.held / 2) : -1
    limit.checkedMs = performance.now()
    limit.isUnlimited = maxClicks === null
    limit.isUsedUp = maxClicks !== null && more === 0 && left === 0 && heldElsewhere === 0
  }
}
