import type { Store } from '../platform/database/store.ts'
import type { DnsResolver } from '../platform/dns/dns-resolver.ts'
import type { Clock } from '../platform/time/clock.ts'
import { LeasedWork } from '../platform/work/leased-work.ts'
import { accountHolder } from './account-holder.ts'
import type { AcmeAccount } from './acme-account-store.ts'
import { AuthorityError } from './authority-error.ts'
import type { CertificateAuthority } from './certificate-authority.ts'
import { certificateNeed, type NeedSources } from './certificate-need.ts'
import type { LeasedOrder, OrderPurpose, OrderQueue } from './certificate-order.ts'
import type { FinishedOrder } from './certificate-order-store.ts'
import type { Certificates } from './certificates.ts'
import type { ChallengePolicy } from './challenge-choice.ts'
import { type HeldOrder, heldOrder } from './held-order.ts'
import type { KeyVault } from './key-vault.ts'
import { LeaseLost } from './lease-lost.ts'
import { orderWaitMicros } from './order-backoff.ts'
import { refundOrder } from './order-budgets.ts'
import { OrderLeasing } from './order-leasing.ts'
import { type OrderResult, runOrder } from './order-run.ts'
import type { OrderStores } from './order-stores.ts'
import { type WantedCertificates, wantedCertificates } from './wanted-certificates.ts'

/** Orders that one process has under way at once. */
const ORDERS_MAX = 16
/** Of these, how many may belong to one workspace: one whose hosts are slow leaves room for the others. */
const ORDERS_PER_WORKSPACE_MAX = 4
const READY: OrderQueue = 'ready'
const HOUR_MICROS = 60 * 60 * 1_000_000
/** How long a host waits that the authority has had enough of without saying until when. */
const LIMITED_MICROS = HOUR_MICROS

/** Sees to it that every active host has a certificate, and none that is not. */
export type CertificateOrders = Pick<WantedCertificates, 'reconcile' | 'reconcileAll'> & {
  /** Starts to work on what is due, as far as there is room for it. */
  startDue(): Promise<void>
  /** Settles when nothing is under way. */
  settled(): Promise<void>
  /** Ends what is under way; what has been begun is gone on with by whoever comes next. */
  cancel(): void
}

export function certificateOrders(deps: {
  store: Store<OrderStores>
  clock: Clock
  resolver: Pick<DnsResolver, 'caa'>
  authority: CertificateAuthority
  certificates: Certificates
  keyVault: KeyVault
  accountVault: KeyVault
  challenges: ChallengePolicy
  serviceHost: string
  wait: (ms: number) => Promise<void>
  /** A number in [0, 1). */
  unit: () => number
  /** Told of a certificate that is in the store now. */
  onIssued: (host: string, notAfter: number) => void
  /** Told of an attempt that failed for a host; it is made again. */
  onFailed: (host: string, reason: string) => void
  /** Told of an authority that is not there for us; it is asked again. */
  onAway: (directory: string, reason: string) => void
  /** Told that there is room for more work. */
  onRoom: () => void
  /** Told of what should not happen. */
  onError: (error: unknown) => void
}): CertificateOrders {
  const { store, clock, authority, certificates, unit } = deps
  const { directory } = authority
  const account = accountHolder({ store, clock, authority, vault: deps.accountVault, unit })
  let isCancelled = false
  const { findOwner, reconcile, reconcileAll } = wantedCertificates({
    store,
    clock,
    certificates,
    serviceHost: deps.serviceHost,
    isCancelled: () => isCancelled,
  })
  const run = {
    store,
    clock,
    resolver: deps.resolver,
    authority,
    account,
    vault: deps.keyVault,
    challenges: deps.challenges,
    findOwner,
    wait: deps.wait,
  }
  const needSources: NeedSources = {
    clock,
    authority,
    noteAdvice: (host, ariId, window) =>
      store.write((stores) => stores.certificates.setRenewalWindow(host, ariId, window)),
  }
  const working = new LeasedWork<LeasedOrder>({
    concurrency: ORDERS_MAX,
    concurrencyPerWorkspace: ORDERS_PER_WORKSPACE_MAX,
    run: workSafely,
    onRoom: deps.onRoom,
  })
  const held = new Map<LeasedOrder, HeldOrder>()
  const leasing = new OrderLeasing({
    store,
    directory,
    working,
    isCharged: (lease) => held.get(lease)?.ongoing() != null,
  })

  async function work(lease: LeasedOrder): Promise<void> {
    const { host, fence } = lease
    const before = await account.stand()
    try {
      const current = await store.read.certificates.find(host)
      const purpose = lease.ongoing?.purpose ?? (await certificateNeed(needSources, current))
      if (typeof purpose === 'object') {
        const rest = { nextAt: purpose.restUntil, attempts: 0, failure: null, queue: READY }
        await store.write((stores) => stores.certificateOrders.finish(host, fence, rest))
        return
      }
      const replaces = current?.directory === directory ? (current.ariId ?? undefined) : undefined
      const order = heldOrder(lease, store, clock)
      held.set(lease, order)
      const result = await runOrder(run, order, purpose, replaces)
      await conclude(lease, purpose, result, before)
    } catch (error) {
      if (error instanceof LeaseLost) return
      await giveBack(lease, before, error)
    }
  }

  async function conclude(
    lease: LeasedOrder,
    purpose: OrderPurpose,
    result: OrderResult,
    before: AcmeAccount,
  ): Promise<void> {
    const { host, fence, attempts } = lease
    const now = clock.nowMicros()
    const none = { ongoing: null, challenge: null }
    switch (result.kind) {
      case 'issued': {
        const { certificate, challenge } = result
        const life = certificate.notAfter - certificate.notBefore
        const isKept = await store.write(async (stores) => {
          if ((await findOwner(stores, host)) === undefined) return false
          const nextAt = now + Math.min(HOUR_MICROS, Math.round(life / 20))
          const done = { ...none, attempts: 0, failure: null, nextAt, queue: READY }
          if (!(await stores.certificateOrders.finish(host, fence, done))) return false
          await certificates.save(stores, certificate)
          return true
        })
        if (isKept) deps.onIssued(host, certificate.notAfter)
        return account.noteWell(before, challenge)
      }
      case 'later': {
        const nextAt = now + result.afterMicros
        const later = { nextAt, failure: result.failure ?? lease.failure }
        await store.write((stores) => stores.certificateOrders.finish(host, fence, later))
        return account.noteWell(before, undefined)
      }
      case 'failed': {
        const { reason } = result
        const nextAt = now + orderWaitMicros(attempts + 1, unit())
        const isLast = purpose === 'first' && host !== deps.serviceHost
        const queue: OrderQueue = isLast ? 'failing' : 'ready'
        const failed = { ...none, attempts: attempts + 1, failure: reason, nextAt, queue }
        await store.write(async (stores) => {
          const order = await stores.certificateOrders.find(host)
          if (!(await stores.certificateOrders.finish(host, fence, failed))) return
          if (order?.ongoing) await refundOrder(stores, { host, ...order.ongoing })
        })
        deps.onFailed(host, reason)
        return account.noteWell(before, undefined)
      }
    }
  }

  /** Ends a lease without a result. The order stays as it is, so that it is gone on with. */
  async function giveBack(lease: LeasedOrder, before: AcmeAccount, error: unknown): Promise<void> {
    const now = clock.nowMicros()
    const finish = (changes: FinishedOrder) =>
      store.write((stores) => stores.certificateOrders.finish(lease.host, lease.fence, changes))
    if (isCancelled) {
      await finish({ nextAt: lease.nextAt })
      return
    }
    if (!(error instanceof AuthorityError)) {
      deps.onError(error)
      const attempts = lease.attempts + 1
      await finish({ nextAt: now + orderWaitMicros(attempts, unit()), attempts })
      return
    }
    const isFirst = await account.pause(before, error)
    if (error.kind === 'rateLimited') {
      const waitMicros = (error.retryAfterMs ?? 0) * 1_000 || LIMITED_MICROS
      await finish({ nextAt: now + waitMicros, failure: error.message })
      deps.onFailed(lease.host, error.message)
    } else {
      await finish({ nextAt: lease.nextAt })
      if (isFirst) deps.onAway(directory, error.message)
    }
  }

  async function workSafely(lease: LeasedOrder): Promise<void> {
    try {
      await work(lease)
    } catch (error) {
      // The store is away: the lease ends by itself.
      if (!isCancelled) deps.onError(error)
    } finally {
      held.delete(lease)
    }
  }

  return {
    reconcile,
    reconcileAll,

    async startDue() {
      const now = clock.nowMicros()
      const pausedUntil = (await store.read.acmeAccounts.find(directory))?.pausedUntil ?? 0
      if (isCancelled || pausedUntil > now) return
      await leasing.startDue(now)
    },

    settled: () => working.settled(),

    cancel() {
      isCancelled = true
      authority.cancel()
    },
  }
}
