import type { Store } from '../platform/database/store.ts'
import { DueTurns } from '../platform/work/due-turns.ts'
import type { LeasedWork } from '../platform/work/leased-work.ts'
import type { AcmeBudgetStore } from './acme-budget-store.ts'
import type { LeasedOrder, OrderQueue } from './certificate-order.ts'
import type { CertificateOrderStore } from './certificate-order-store.ts'
import { LEASE_MICROS } from './held-order.ts'
import { firstOrdersLeft } from './order-budgets.ts'

/** In the order in which they are leased: hosts that failed come last. */
const QUEUES: readonly OrderQueue[] = ['ready', 'new', 'failing']

/** Of what a node has under way, the most of the first queue: thousands that are due let new hosts in. */
const READY_MAX = 12

type OrderLeasingOptions = {
  readonly store: Store<{
    readonly certificateOrders: CertificateOrderStore
    readonly acmeBudgets: AcmeBudgetStore
  }>
  /** That of the authority's account that orders are charged to. */
  readonly directory: string
  readonly working: LeasedWork<LeasedOrder>
  /** Whether the order of a host without a certificate has been charged to the budgets. */
  readonly isCharged: (lease: LeasedOrder) => boolean
}

/**
 * Leases the hosts that are due, the workspaces in turn. Hosts without a certificate are leased only as
 * far as the budgets of their orders reach: the others keep their place, the longest waiting first.
 */
export class OrderLeasing {
  readonly #options: OrderLeasingOptions
  readonly #turns: ReadonlyMap<OrderQueue, DueTurns>

  constructor(options: OrderLeasingOptions) {
    this.#options = options
    const { store } = options
    this.#turns = new Map(
      QUEUES.map((queue) => {
        const { certificateOrders } = store.read
        return [
          queue,
          new DueTurns((from, to) => certificateOrders.findDueWorkspaces(queue, from, to)),
        ]
      }),
    )
  }

  /** Starts to work on what is due, as far as there is room for it. */
  async startDue(now: number): Promise<void> {
    for (const [queue, turns] of this.#turns) {
      await turns.refresh(now)
      while (await this.#startNext(queue, turns, now));
    }
  }

  /** False when nothing more is to be leased now. */
  async #startNext(queue: OrderQueue, turns: DueTurns, now: number): Promise<boolean> {
    const { store, working } = this.#options
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
    for (const lease of leases) working.start(lease)
    turns.settle([...waiting, ...leases.map(({ workspaceId }) => workspaceId)], idle)
    return leases.length > 0 || idle.length > 0
  }

  /** How many hosts each workspace may have leased now, in the order of their turns, and all together. */
  async #sharesOf(
    queue: OrderQueue,
    workspaceIds: readonly string[],
    now: number,
  ): Promise<{ readonly shares: ReadonlyMap<string, number>; readonly limit: number }> {
    const { store, directory, working } = this.#options
    const shares = new Map<string, number>()
    if (workspaceIds.length === 0 || working.room <= 0) return { shares, limit: 0 }
    const isFree = queue === 'ready'
    const left = isFree
      ? undefined
      : await firstOrdersLeft(store.read, directory, workspaceIds, now)
    for (const id of workspaceIds) {
      const ofBudget =
        (left?.ofWorkspaces.get(id) ?? Number.POSITIVE_INFINITY) - this.#uncharged(id)
      const share = Math.min(working.roomOf(id), ofBudget)
      if (share > 0) shares.set(id, share)
    }
    const limit =
      left === undefined ? READY_MAX - this.#ready() : left.ofAccount - this.#uncharged()
    return { shares, limit: Math.min(working.room, limit) }
  }

  /** Hosts under way that were leased from the first queue. */
  #ready(): number {
    let count = 0
    for (const { queue } of this.#options.working.leases) if (queue === 'ready') count += 1
    return count
  }

  /** Hosts under way whose first order is not charged yet. */
  #uncharged(workspaceId?: string): number {
    let count = 0
    for (const lease of this.#options.working.leases) {
      const isCounted = workspaceId === undefined || lease.workspaceId === workspaceId
      if (isCounted && lease.queue !== 'ready' && !this.#options.isCharged(lease)) count += 1
    }
    return count
  }
}
