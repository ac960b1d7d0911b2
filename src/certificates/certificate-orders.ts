import type { DnsResolver } from '../platform/dns/dns-resolver.ts'
import type { Clock } from '../platform/time/clock.ts'
import { LeaseRunner } from '../platform/work/leases.ts'
import type { Store } from '../storage/store.ts'
import { AccountManager, type KeyVault } from './account-manager.ts'
import type { Certificate } from './certificate.ts'
import {
  AuthorityError,
  type CertificateAuthority,
  type ChallengeType,
} from './certificate-authority.ts'
import {
  type LeasedOrder,
  LeaseLost,
  type OrderPurpose,
  type OrderQueue,
  orderWaitMicros,
} from './certificate-order.ts'
import { type Certificates, certificateNeed, type NeedContext } from './certificates.ts'
import type { ChallengePolicy } from './challenges.ts'
import { refundOrder } from './order-budgets.ts'
import { type OrderResult, OrderRun, type OrderRunContext } from './order-run.ts'
import {
  logFailed,
  logIssued,
  OrderLease,
  OrderReconciler,
  OrderScheduler,
  type OrderStores,
} from './order-scheduler.ts'
import type { AcmeAccount } from './store/acme-store.ts'
import type { FinishedOrder } from './store/certificate-order-store.ts'

/** Orders that one process works on at a time. */
const CONCURRENCY = 16
/** A workspace with slow hosts leaves room for the others. */
const CONCURRENCY_PER_WORKSPACE = 4
const READY: OrderQueue = 'ready'
const HOUR_MICROS = 60 * 60 * 1_000_000
/** How long a rate-limited host waits when the authority gives no time. */
const RATE_LIMITED_MICROS = HOUR_MICROS
/** No order and no challenge, as it is written when an order has ended. */
const ENDED = { ongoing: null, challenge: null } as const

export type CertificateOrdersOptions = {
  readonly store: Store<OrderStores>
  readonly clock: Clock
  readonly resolver: Pick<DnsResolver, 'caa'>
  readonly authority: CertificateAuthority
  readonly certificates: Certificates
  /** Seals the private keys of certificates. */
  readonly keyVault: KeyVault
  /** Seals the keys of accounts. */
  readonly accountVault: KeyVault
  readonly challenges: ChallengePolicy
  readonly serviceHost: string
  /** Settles after that time, or earlier when the process is stopping. */
  readonly wait: (ms: number) => Promise<void>
  /** Returns a number in [0, 1). */
  readonly random: () => number
  /** Called when a certificate has been saved. */
  readonly onIssued: (host: string, notAfter: number) => void
  /** Called when an order has failed for a host; it is retried later. */
  readonly onFailed: (host: string, reason: string) => void
  /** Called when requests to the authority have been paused. */
  readonly onUnavailable: (directory: string, reason: string) => void
  /** Called when there is room for more orders. */
  readonly onRoom: () => void
  /** Called for unexpected errors. */
  readonly onError: (error: unknown) => void
}

/** Orders and renews a certificate for each active host, and removes those of other hosts. */
export class CertificateOrders {
  readonly #options: CertificateOrdersOptions
  readonly #account: AccountManager
  readonly #reconciler: OrderReconciler
  readonly #runContext: OrderRunContext
  readonly #needContext: NeedContext
  readonly #work: LeaseRunner<LeasedOrder>
  readonly #leases = new Map<LeasedOrder, OrderLease>()
  readonly #scheduler: OrderScheduler
  #isCancelled = false

  constructor(options: CertificateOrdersOptions) {
    const { store, clock, authority, certificates, serviceHost, random } = options
    const { resolver, challenges, wait } = options
    this.#options = options
    this.#account = new AccountManager({
      store,
      clock,
      authority,
      vault: options.accountVault,
      random,
    })
    this.#reconciler = new OrderReconciler({
      store,
      clock,
      certificates,
      serviceHost,
      isCancelled: () => this.#isCancelled,
    })
    this.#runContext = {
      store,
      clock,
      resolver,
      authority,
      account: this.#account,
      vault: options.keyVault,
      challenges,
      reconciler: this.#reconciler,
      wait,
    }
    this.#needContext = {
      clock,
      authority,
      saveRenewalWindow: (host, ariId, window) =>
        store.write((stores) => stores.certificates.setRenewalWindow(host, ariId, window)),
    }
    this.#work = new LeaseRunner({
      concurrency: CONCURRENCY,
      concurrencyPerWorkspace: CONCURRENCY_PER_WORKSPACE,
      run: (order) => this.#runSafely(order),
      onSlotFree: options.onRoom,
    })
    this.#scheduler = new OrderScheduler({
      store,
      directory: authority.directory,
      work: this.#work,
      isCharged: (order) => this.#leases.get(order)?.ongoing != null,
    })
  }

  /** Updates the orders of hosts that have changed; see `OrderReconciler`. */
  reconcile(hosts: readonly string[]): Promise<void> {
    return this.#reconciler.reconcile(hosts)
  }

  reconcileAll(): Promise<void> {
    return this.#reconciler.reconcileAll()
  }

  /** Starts orders that are due, as many as there is room for. */
  async startDue(): Promise<void> {
    const { store, clock, authority } = this.#options
    const now = clock.nowMicros()
    const account = await store.read.acmeAccounts.find(authority.directory)
    if (this.#isCancelled || (account?.pausedUntil ?? 0) > now) return
    await this.#scheduler.startDue(now)
  }

  /** Settles when no order is being worked on. */
  settled(): Promise<void> {
    return this.#work.settled()
  }

  /** Stops working on orders. Another process, or this one after a restart, continues them. */
  cancel(): void {
    this.#isCancelled = true
    this.#options.authority.cancel()
  }

  async #runSafely(order: LeasedOrder): Promise<void> {
    try {
      await this.#run(order)
    } catch (error) {
      // The store failed. The lease expires.
      if (!this.#isCancelled) this.#options.onError(error)
    } finally {
      this.#leases.delete(order)
    }
  }

  async #run(order: LeasedOrder): Promise<void> {
    const { store, clock, authority } = this.#options
    const { host } = order
    const accountBefore = await this.#account.getState()
    try {
      const current = await store.read.certificates.find(host)
      const purpose = order.ongoing?.purpose ?? (await certificateNeed(this.#needContext, current))
      if (typeof purpose === 'object') {
        const idle = { nextAt: purpose.checkAgainAt, attempts: 0, failure: null, queue: READY }
        await this.#finish(order, idle)
        return
      }
      const isSameAuthority = current?.directory === authority.directory
      const replaces = isSameAuthority ? (current.ariId ?? undefined) : undefined
      const lease = new OrderLease(order, store, clock)
      this.#leases.set(order, lease)
      const result = await new OrderRun(this.#runContext, lease, purpose, replaces).run()
      const challenge = await this.#conclude(order, purpose, result)
      await this.#account.recordSuccess(accountBefore, challenge)
    } catch (error) {
      if (error instanceof LeaseLost) return
      await this.#giveBack(order, accountBefore, error)
    }
  }

  /** Writes the result and returns the type of the challenge that succeeded. */
  async #conclude(
    order: LeasedOrder,
    purpose: OrderPurpose,
    result: OrderResult,
  ): Promise<ChallengeType | undefined> {
    switch (result.kind) {
      case 'issued':
        await this.#concludeIssued(order, result.certificate)
        return result.challenge
      case 'later': {
        const nextAt = this.#options.clock.nowMicros() + result.afterMicros
        await this.#finish(order, { nextAt, failure: result.failure ?? order.failure })
        return undefined
      }
      case 'failed':
        await this.#concludeFailed(order, purpose, result.reason)
        return undefined
    }
  }

  async #concludeIssued({ host, fence }: LeasedOrder, certificate: Certificate): Promise<void> {
    const { store, clock, certificates } = this.#options
    const now = clock.nowMicros()
    const life = certificate.notAfter - certificate.notBefore
    const isSaved = await store.write(async (stores) => {
      if ((await this.#reconciler.findOwner(stores, host)) === undefined) return false
      const nextAt = now + Math.min(HOUR_MICROS, Math.round(life / 20))
      const done = { ...ENDED, attempts: 0, failure: null, nextAt, queue: READY }
      if (!(await stores.certificateOrders.finish(host, fence, done))) return false
      await certificates.save(stores, certificate)
      await logIssued(stores, certificate, now)
      return true
    })
    if (isSaved) this.#options.onIssued(host, certificate.notAfter)
  }

  async #concludeFailed(
    { host, fence, attempts: attemptsBefore }: LeasedOrder,
    purpose: OrderPurpose,
    reason: string,
  ): Promise<void> {
    const { store, clock, serviceHost, random } = this.#options
    const attempts = attemptsBefore + 1
    const now = clock.nowMicros()
    const nextAt = now + orderWaitMicros(attempts, random())
    const queue: OrderQueue = purpose === 'first' && host !== serviceHost ? 'failing' : 'ready'
    const failed = { ...ENDED, attempts, failure: reason, nextAt, queue }
    await store.write(async (stores) => {
      const order = await stores.certificateOrders.find(host)
      if (!(await stores.certificateOrders.finish(host, fence, failed))) return
      if (order?.ongoing) await refundOrder(stores, { host, ...order.ongoing })
      await logFailed(stores, host, reason, now)
    })
    this.#options.onFailed(host, reason)
  }

  /**
   * Ends a lease without a result. The order keeps its progress, so that a later run continues it.
   */
  async #giveBack(order: LeasedOrder, accountBefore: AcmeAccount, error: unknown): Promise<void> {
    const { clock, authority, random, onError, onFailed, onUnavailable } = this.#options
    const now = clock.nowMicros()
    if (this.#isCancelled) {
      await this.#finish(order, { nextAt: order.nextAt })
      return
    }
    if (!(error instanceof AuthorityError)) {
      onError(error)
      const attempts = order.attempts + 1
      await this.#finish(order, { nextAt: now + orderWaitMicros(attempts, random()), attempts })
      return
    }
    const isFirst = await this.#account.pause(accountBefore, error)
    if (error.kind === 'rateLimited') {
      const waitMicros = (error.retryAfterMs ?? 0) * 1_000 || RATE_LIMITED_MICROS
      await this.#finish(order, { nextAt: now + waitMicros, failure: error.message })
      onFailed(order.host, error.message)
    } else {
      await this.#finish(order, { nextAt: order.nextAt })
      if (isFirst) onUnavailable(authority.directory, error.message)
    }
  }

  #finish({ host, fence }: LeasedOrder, changes: FinishedOrder): Promise<boolean> {
    return this.#options.store.write((stores) =>
      stores.certificateOrders.finish(host, fence, changes),
    )
  }
}
