import type { Domain } from '../domains/index.ts'
import { systemActor } from '../identity/index.ts'
import { type Clock, formatInstant } from '../platform/time/clock.ts'
import { DueOwners, type LeaseRunner } from '../platform/work/leases.ts'
import type { EventWriter, NewEvent } from '../storage/event-log.ts'
import type { Store } from '../storage/store.ts'
import type { Certificate } from './certificate.ts'
import { CALL_MS_MAX } from './certificate-authority.ts'
import {
  type ActiveChallenge,
  type LeasedOrder,
  LeaseLost,
  type OngoingOrder,
  type OrderQueue,
} from './certificate-order.ts'
import { type CertificateStores, type Certificates, isCertifiable } from './certificates.ts'
import { type BudgetStores, firstOrdersLeft } from './order-budgets.ts'
import type { AcmeAccountStore } from './store/acme-store.ts'
import type { CertificateOrderStore } from './store/certificate-order-store.ts'

/** In the order in which they are leased: failing hosts come last. */
const QUEUES: readonly OrderQueue[] = ['ready', 'new', 'failing']

/**
 * Orders of the queue `ready` that a node works on at a time: thousands of renewals leave room for
 * new hosts.
 */
const READY_MAX = 12

type OrderSchedulerOptions = {
  readonly store: Store<{ readonly certificateOrders: CertificateOrderStore } & BudgetStores>
  /** The directory of the authority whose budgets are charged. */
  readonly directory: string
  readonly work: LeaseRunner<LeasedOrder>
  /** Whether the first order of a host has been charged to the budgets. */
  readonly isCharged: (order: LeasedOrder) => boolean
}

/**
 * Leases the hosts that are due, one workspace after the other. Hosts without a certificate are leased
 * only while the budgets allow their orders; the others keep their place, the longest waiting first.
 */
export class OrderScheduler {
  readonly #options: OrderSchedulerOptions
  readonly #turns: ReadonlyMap<OrderQueue, DueOwners>

  constructor(options: OrderSchedulerOptions) {
    this.#options = options
    const { store } = options
    this.#turns = new Map(
      QUEUES.map((queue) => {
        const { certificateOrders } = store.read
        return [
          queue,
          new DueOwners((from, to) => certificateOrders.findDueWorkspaces(queue, from, to)),
        ]
      }),
    )
  }

  /** Leases due hosts and starts to work on them, as many as there is room for. */
  async startDue(now: number): Promise<void> {
    for (const [queue, turns] of this.#turns) {
      await turns.refresh(now)
      while (await this.#startNext(queue, turns, now));
    }
  }

  /** Leases one round of hosts. False when no more can be leased now. */
  async #startNext(queue: OrderQueue, turns: DueOwners, now: number): Promise<boolean> {
    const { store, work } = this.#options
    const next = turns.next()
    const { shares, limit } = await this.#sharesOf(queue, next, now)
    const waiting = next.filter((id) => !shares.has(id))
    if (limit <= 0 || shares.size === 0) {
      turns.settle(waiting, [])
      return false
    }
    const { leases, idle } = await store.write((stores) =>
      stores.certificateOrders.leaseDue(queue, shares, now, now + LEASE_MICROS, limit),
    )
    for (const lease of leases) work.start(lease)
    turns.settle([...waiting, ...leases.map(({ workspaceId }) => workspaceId)], idle)
    return leases.length > 0 || idle.length > 0
  }

  /**
   * Returns how many hosts may be leased now: for each workspace, in the order of their turns, and
   * in all.
   */
  async #sharesOf(
    queue: OrderQueue,
    workspaceIds: readonly string[],
    now: number,
  ): Promise<{ readonly shares: ReadonlyMap<string, number>; readonly limit: number }> {
    const { store, directory, work } = this.#options
    const shares = new Map<string, number>()
    if (workspaceIds.length === 0 || work.freeSlots <= 0) return { shares, limit: 0 }
    const left =
      queue === 'ready'
        ? undefined
        : await firstOrdersLeft(store.read, directory, workspaceIds, now)
    for (const id of workspaceIds) {
      const budget = left?.ofWorkspaces.get(id) ?? Number.POSITIVE_INFINITY
      const share = Math.min(work.freeSlotsOf(id), budget - this.#countUncharged(id))
      if (share > 0) shares.set(id, share)
    }
    const limit =
      left === undefined ? READY_MAX - this.#countReady() : left.ofAccount - this.#countUncharged()
    return { shares, limit: Math.min(work.freeSlots, limit) }
  }

  /** How many leased hosts are of the queue `ready`. */
  #countReady(): number {
    let count = 0
    for (const { queue } of this.#options.work.leases) if (queue === 'ready') count += 1
    return count
  }

  /** How many leased hosts have a first order that is not charged yet. */
  #countUncharged(workspaceId?: string): number {
    let count = 0
    for (const lease of this.#options.work.leases) {
      const isCounted = workspaceId === undefined || lease.workspaceId === workspaceId
      if (isCounted && lease.queue !== 'ready' && !this.#options.isCharged(lease)) count += 1
    }
    return count
  }
}

/** Hosts that `reconcileAll` reads at a time. */
const BATCH_SIZE = 200

/** Where the workspace in which a host is active is looked up. */
type OwnerStores = {
  readonly domains: {
    findActive(host: string): Promise<{ readonly workspace_id: string } | undefined>
  }
}

type ReconcilerStores = OwnerStores &
  CertificateStores & { readonly certificateOrders: CertificateOrderStore }

type OrderReconcilerDependencies = {
  readonly store: Store<ReconcilerStores>
  readonly clock: Clock
  readonly certificates: Certificates
  readonly serviceHost: string
  /** Makes `reconcileAll` stop after the current batch. */
  readonly isCancelled: () => boolean
}

/** Keeps one row in the store of orders for each host that should have a certificate. */
export class OrderReconciler {
  readonly #deps: OrderReconcilerDependencies

  constructor(deps: OrderReconcilerDependencies) {
    this.#deps = deps
  }

  /**
   * Returns the workspace in which a host is active; empty for the service's own host, undefined for a
   * host that should have no certificate.
   */
  async findOwner(stores: OwnerStores, host: string): Promise<string | undefined> {
    if (!isCertifiable(host)) return undefined
    return host === this.#deps.serviceHost
      ? ''
      : (await stores.domains.findActive(host))?.workspace_id
  }

  /**
   * Adds hosts that have become active, moves those that have become active in another workspace, and
   * removes those that are no longer active, with their certificates.
   */
  async reconcile(hosts: readonly string[]): Promise<void> {
    for (const host of hosts) await this.#reconcileHost(host)
  }

  /** Reconciles all hosts, in case a change was missed. */
  async reconcileAll(): Promise<void> {
    await this.#reconcileHost(this.#deps.serviceHost)
    const { certificateOrders: orders } = this.#deps.store.read
    for (const find of [orders.findMissing, orders.findOutdated]) {
      let after: string | undefined = ''
      while (after !== undefined && !this.#deps.isCancelled()) {
        const hosts: readonly string[] = await find(after, BATCH_SIZE)
        await this.reconcile(hosts)
        after = hosts.at(-1)
      }
    }
  }

  async #reconcileHost(host: string): Promise<void> {
    const [owner, order] = await Promise.all([
      this.findOwner(this.#deps.store.read, host),
      this.#deps.store.read.certificateOrders.find(host),
    ])
    if (owner === order?.workspaceId) return
    await this.#deps.store.write(async (stores) => {
      const workspaceId = await this.findOwner(stores, host)
      const now = this.#deps.clock.nowMicros()
      if (workspaceId !== undefined) {
        const queue = host === this.#deps.serviceHost ? 'ready' : 'new'
        await stores.certificateOrders.add(host, { workspaceId, queue }, now)
        await stores.certificateOrders.assign(host, workspaceId, now)
      } else if (await stores.certificateOrders.remove(host)) {
        await this.#deps.certificates.remove(stores, host)
      }
    })
  }
}

/** The stores that certificate orders read and write. */
export type OrderStores = ReconcilerStores &
  BudgetStores &
  CertificateEventStores & { readonly acmeAccounts: AcmeAccountStore }

/** Whenever a call to the authority begins, the lease lasts for two calls at least. */
const LEASE_MICROS = 3 * CALL_MS_MAX * 1_000
const RENEW_MICROS = CALL_MS_MAX * 1_000

type LeaseStores = { readonly certificateOrders: CertificateOrderStore }

/** An order that this node has leased, with its progress since then. */
export class OrderLease {
  readonly order: LeasedOrder
  readonly #store: Store<LeaseStores>
  readonly #clock: Clock
  #ongoing: OngoingOrder | null
  #challenge: ActiveChallenge | null
  #renewedAt: number

  constructor(order: LeasedOrder, store: Store<LeaseStores>, clock: Clock) {
    this.order = order
    this.#store = store
    this.#clock = clock
    this.#ongoing = order.ongoing
    this.#challenge = order.challenge
    this.#renewedAt = clock.nowMicros()
  }

  get ongoing(): OngoingOrder | null {
    return this.#ongoing
  }

  get challenge(): ActiveChallenge | null {
    return this.#challenge
  }

  /**
   * Saves progress. Await it before the step that depends on it.
   *
   * @throws {LeaseLost}
   */
  async advance(changes: {
    readonly ongoing?: OngoingOrder | null
    readonly challenge?: ActiveChallenge | null
  }): Promise<void> {
    const { host, fence } = this.order
    const isHeld = await this.#store.write((stores) =>
      stores.certificateOrders.advance(host, fence, changes),
    )
    if (!isHeld) throw new LeaseLost()
    if (changes.ongoing !== undefined) this.#ongoing = changes.ongoing
    if (changes.challenge !== undefined) this.#challenge = changes.challenge
  }

  /**
   * Renews the lease where needed, so that it lasts for the next call to the authority.
   *
   * @throws {LeaseLost}
   */
  async renew(): Promise<void> {
    const { host, fence } = this.order
    const now = this.#clock.nowMicros()
    if (Math.abs(now - this.#renewedAt) < RENEW_MICROS) return
    const isHeld = await this.#store.write((stores) =>
      stores.certificateOrders.extend(host, fence, now + LEASE_MICROS),
    )
    if (!isHeld) throw new LeaseLost()
    this.#renewedAt = now
  }
}

/** What events of certificates are written to. */
type CertificateEventStores = {
  readonly events: EventWriter
  readonly domains: { findActive(host: string): Promise<Domain | undefined> }
}

const certificateOrders = systemActor('certificate orders')

export function logIssued(
  stores: CertificateEventStores,
  { host, notBefore, notAfter }: Certificate,
  now: number,
): Promise<void> {
  const after = {
    domain: host,
    valid_from: formatInstant(notBefore),
    valid_until: formatInstant(notAfter),
  }
  return log(stores, host, { type: 'certificate.issued', before: null, after }, now)
}

/** @param reason as the workspace sees it in the report on its DNS */
export function logFailed(
  stores: CertificateEventStores,
  host: string,
  reason: string,
  now: number,
): Promise<void> {
  const after = { domain: host, problem: reason }
  return log(stores, host, { type: 'certificate.failed', before: null, after }, now)
}

/** Writes an event of the domain that has the host. The service's own host is in no workspace. */
async function log(
  stores: CertificateEventStores,
  host: string,
  event: Omit<NewEvent, 'subjectId'>,
  now: number,
): Promise<void> {
  const domain = await stores.domains.findActive(host)
  if (domain === undefined) return
  const author = certificateOrders(domain.workspace_id)
  await stores.events.append(author, { ...event, subjectId: domain.id }, now)
}
