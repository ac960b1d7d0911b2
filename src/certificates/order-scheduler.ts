import { DueOwners, type LeaseRunner } from '../platform/work/leases.ts'
import type { Store } from '../storage/store.ts'
import type { LeasedOrder, OrderQueue } from './certificate-order.ts'
import { type BudgetStores, firstOrdersLeft } from './order-budgets.ts'
import { LEASE_MICROS } from './order-lease.ts'
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
