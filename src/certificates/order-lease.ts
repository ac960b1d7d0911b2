import type { Clock } from '../platform/time/clock.ts'
import type { Store } from '../storage/store.ts'
import { CALL_MS_MAX } from './certificate-authority.ts'
import type { CertificateEventStores } from './certificate-events.ts'
import {
  type ActiveChallenge,
  type LeasedOrder,
  LeaseLost,
  type OngoingOrder,
} from './certificate-order.ts'
import type { BudgetStores } from './order-budgets.ts'
import type { ReconcilerStores } from './order-reconciler.ts'
import type { AcmeAccountStore } from './store/acme-account-store.ts'
import type { CertificateOrderStore } from './store/certificate-order-store.ts'

/** The stores that certificate orders read and write. */
export type OrderStores = ReconcilerStores &
  BudgetStores &
  CertificateEventStores & { readonly acmeAccounts: AcmeAccountStore }

/** Whenever a call to the authority begins, the lease lasts for two calls at least. */
export const LEASE_MICROS = 3 * CALL_MS_MAX * 1_000
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
