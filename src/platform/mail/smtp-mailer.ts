import { setTimeout as sleep } from 'node:timers/promises'
import { FairQueue, QueueRefusal } from '../work/fair-queue.ts'
import type { Delivery, DropReason, Mail, Mailer } from './mailer.ts'
import { SmtpTransport } from './smtp-transport.ts'

/** Before each further attempt. Servers that greylist accept a message after some minutes. */
const RETRY_DELAYS_MS = [5_000, 60_000, 5 * 60_000, 15 * 60_000]
/** For one turn: a link for a new password works for an hour. */
const TURN_MS_MAX = 20 * 60_000
const STOP_MS_MAX = 3_000
/** Messages of one owner: more than a workspace may send within an hour. */
const HELD_PER_OWNER_MAX = 250
/** Messages of all owners, of each kind. */
const HELD_MAX = 2_000

type Log = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  debug(message: string): void
}

type Held = {
  readonly mail: Mail
  readonly delivery: Delivery
  /** Aborted with a `DropReason`, which ends no attempt that is under way, but those after it. */
  readonly dropping: AbortController
}

/**
 * Sends through an SMTP server. A message that the server defers waits in memory without a slot. Links for new
 * passwords have slots of their own; in each kind, owners are served in turn.
 */
export class SmtpMailer implements Mailer {
  readonly #log: Log
  readonly #retryDelaysMs: readonly number[]
  readonly #heldMax: number
  readonly #transport: SmtpTransport
  readonly #queues = {
    password_reset: slotsFor('password links'),
    invitation: slotsFor('invitations'),
    email_change: slotsFor('changes of addresses'),
    webhook_disabled: slotsFor('notices of webhooks'),
  }
  readonly #held = new Map<Delivery['kind'], Map<string, Set<Held>>>()
  readonly #underWay = new Set<Promise<void>>()
  #isStopping = false

  /**
   * @param options.url `smtp://` or `smtps://`, with a user and password where the server needs them
   * @param options.from the sender
   * @param options.retryDelaysMs for tests
   * @param options.heldMax for tests
   */
  constructor(options: {
    url: string
    from: string
    log: Log
    retryDelaysMs?: readonly number[]
    heldMax?: number
  }) {
    this.#log = options.log
    this.#retryDelaysMs = options.retryDelaysMs ?? RETRY_DELAYS_MS
    this.#heldMax = options.heldMax ?? HELD_MAX
    this.#transport = new SmtpTransport(options)
  }

  send(mail: Mail, delivery: Delivery): void {
    const held = { mail, delivery, dropping: new AbortController() }
    const work = this.#carry(held).finally(() => this.#underWay.delete(work))
    this.#underWay.add(work)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    const all = [...this.#held.values()].flatMap((owners) => [...owners.values()])
    for (const held of all.flatMap((own) => [...own])) this.#drop(held, 'stopped')
    await Promise.race([Promise.all(this.#underWay), sleep(STOP_MS_MAX, undefined, { ref: false })])
  }

  async #carry(held: Held): Promise<void> {
    const { kind } = held.delivery
    let fields: object = {}
    let reason = this.#isStopping ? 'stopped' : this.#hold(held)
    try {
      for (let attempt = 0; reason === undefined; attempt += 1) {
        const failure = await this.#attempt(held)
        if (failure === undefined) return this.#log.debug('mail sent')
        fields = failure.fields
        const delayMs = this.#retryDelaysMs[attempt]
        if (failure.isPermanent) reason = 'refused'
        else if (delayMs === undefined) reason = 'deferred'
        else {
          this.#log.info({ kind, ...fields, retryInMs: delayMs }, 'mail deferred')
          await pause(delayMs, held.dropping.signal)
        }
      }
    } catch (error) {
      reason = reasonOf(error)
    } finally {
      this.#letGo(held)
    }
    this.#log.warn({ kind, owner: held.delivery.owner, reason, ...fields }, 'mail dropped')
    await held.delivery.onDropped(reason)
  }

  /** Returns undefined when the server has accepted the message. */
  #attempt({ mail, delivery, dropping }: Held) {
    return this.#queues[delivery.kind].run(
      delivery.owner,
      () => this.#transport.send(mail),
      dropping.signal,
    )
  }

  /** Makes room for a message, at the expense of the owner who has the most. */
  #hold(held: Held): DropReason | undefined {
    const { kind, owner } = held.delivery
    const owners = this.#held.getOrInsertComputed(kind, () => new Map<string, Set<Held>>())
    const own = owners.getOrInsertComputed(owner, () => new Set<Held>())
    own.add(held)
    if (own.size > HELD_PER_OWNER_MAX) return 'queue_full'
    const all = [...owners.values()]
    if (all.reduce((sum, { size }) => sum + size, 0) <= this.#heldMax) return undefined
    const most = all.reduce((one, other) => (other.size > one.size ? other : one))
    if (most.size <= own.size) return 'queue_full'
    const last = [...most].at(-1)
    if (last !== undefined) this.#drop(last, 'queue_full')
    return undefined
  }

  #drop(held: Held, reason: DropReason): void {
    this.#letGo(held)
    held.dropping.abort(reason)
  }

  #letGo(held: Held): void {
    const { kind, owner } = held.delivery
    const owners = this.#held.get(kind)
    const own = owners?.get(owner)
    own?.delete(held)
    if (own?.size === 0) owners?.delete(owner)
  }
}

function slotsFor(work: string): FairQueue {
  return new FairQueue({
    work,
    concurrency: 2,
    concurrencyPerOwner: 1,
    waitingPerOwnerMax: HELD_PER_OWNER_MAX,
    waitingMax: HELD_MAX + 1,
    deadlineMs: TURN_MS_MAX,
  })
}

/** @throws the reason of `signal` */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch((error) => {
    throw signal.aborted ? signal.reason : error
  })
}

/** @throws what is no reason to drop a message */
function reasonOf(error: unknown): DropReason {
  if (error instanceof QueueRefusal) {
    return error.reason === 'deadline' ? 'waited_too_long' : 'queue_full'
  }
  if (error === 'stopped' || error === 'queue_full') return error
  throw error
}
