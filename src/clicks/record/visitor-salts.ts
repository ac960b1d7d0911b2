import type { Random } from '../../platform/crypto/random.ts'
import { type SipKey, sipKeyOf } from '../../platform/crypto/siphash.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Store } from '../../storage/store.ts'
import type { VisitorSaltStore } from '../store/visitor-salt-store.ts'

const DAY_MICROS = 24 * 60 * 60 * 1_000_000
const SALT_BYTES = 16
/** Tomorrow's salt is created a day ahead, so many attempts may fail before it is needed. */
const RENEW_INTERVAL_MS = 60_000

/** The secret of one UTC day. */
export type DaySalt = {
  /** Days since 1970-01-01. */
  readonly day: number
  /** The stored form. */
  readonly text: string
  readonly key: SipKey
}

type SaltStores = { readonly visitorSalts: VisitorSaltStore }

/**
 * The random salts for hashing visitors, one for each UTC day, shared by all nodes of a database. A salt is
 * deleted at the end of the following day; after that nothing links a hash to a person. (Yesterday's salt is
 * kept for clocks that are slow or set back.)
 *
 * A visit never waits for a salt. If the database has not returned the salt when a day begins, the node
 * creates one and stores it as soon as the database responds. If another node stored one first, this node
 * switches to that, and visitors from before and after the switch count twice.
 */
export class VisitorSalts {
  readonly #store: Store<SaltStores>
  readonly #clock: Clock
  readonly #random: Random
  readonly #onError: (error: unknown) => void
  readonly #salts = new Map<number, DaySalt>()
  /** Days whose salt has not been confirmed by the database. */
  readonly #unsettled = new Set<number>()
  #current: DaySalt | undefined
  #forgottenBefore = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #renewing: Promise<void> = Promise.resolve()
  #failing = false

  constructor(options: {
    store: Store<SaltStores>
    clock: Clock
    random: Random
    onError: (error: unknown) => void
  }) {
    this.#store = options.store
    this.#clock = options.clock
    this.#random = options.random
    this.#onError = options.onError
  }

  /** Resolves when the salts of today and tomorrow are loaded, then keeps them up to date. */
  async start(): Promise<void> {
    await this.#renew()
    this.#timer = setInterval(() => this.#renewSoon(), RENEW_INTERVAL_MS)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#renewing
  }

  /** Returns the salt of an instant's UTC day: the same object as long as the salt is the same. */
  at(micros: number): DaySalt {
    const day = dayOf(micros)
    return this.#current?.day === day ? this.#current : this.#switchTo(day)
  }

  #switchTo(day: number): DaySalt {
    let salt = this.#salts.get(day)
    if (salt === undefined) {
      salt = this.#make(day)
      this.#salts.set(day, salt)
      this.#unsettled.add(day)
      this.#renewSoon()
    }
    this.#current = salt
    return salt
  }

  #make(day: number): DaySalt {
    return saltOf(day, Buffer.from(this.#random(SALT_BYTES)).toString('hex'))
  }

  #renewSoon(): void {
    this.#renewing = this.#renewing.then(async () => {
      try {
        await this.#renew()
        this.#failing = false
      } catch (error) {
        if (!this.#failing) this.#onError(error)
        this.#failing = true
      }
    })
  }

  async #renew(): Promise<void> {
    const today = dayOf(this.#clock.nowMicros())
    for (const day of new Set([today, today + 1, ...this.#unsettled])) await this.#settle(day)
    for (const day of this.#salts.keys()) {
      if (day < today - 1 || day > today + 1) this.#salts.delete(day)
    }
    if (this.#forgottenBefore === today - 1) return
    await this.#store.write((stores) => stores.visitorSalts.forgetBefore(today - 1))
    this.#forgottenBefore = today - 1
  }

  async #settle(day: number): Promise<void> {
    const own = this.#salts.get(day) ?? this.#make(day)
    if (this.#salts.has(day) && !this.#unsettled.has(day)) return
    const kept =
      (await this.#store.read.visitorSalts.find(day)) ??
      (await this.#store.write((stores) => stores.visitorSalts.keep(day, own.text)))
    const salt = kept === own.text ? own : saltOf(day, kept)
    this.#salts.set(day, salt)
    this.#unsettled.delete(day)
    if (this.#current?.day === day) this.#current = salt
  }
}

function dayOf(micros: number): number {
  return Math.floor(micros / DAY_MICROS)
}

function saltOf(day: number, text: string): DaySalt {
  return { day, text, key: sipKeyOf(Buffer.from(text, 'hex')) }
}
