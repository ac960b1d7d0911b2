import type { Store } from '../platform/database/store.ts'
import type { Clock } from '../platform/time/clock.ts'
import { CALL_MS_MAX } from './certificate-authority.ts'
import type { ActiveChallenge, LeasedOrder, OngoingOrder } from './certificate-order.ts'
import type { CertificateOrderStore } from './certificate-order-store.ts'
import { LeaseLost } from './lease-lost.ts'

/** Two calls to the authority fit into what is left of a lease when the next one begins. */
export const LEASE_MICROS = 3 * CALL_MS_MAX * 1_000
const RENEW_MICROS = CALL_MS_MAX * 1_000

/** An order that this node works on, as it now stands, here and in the store alike. */
export type HeldOrder = {
  readonly lease: LeasedOrder
  ongoing(): OngoingOrder | null
  challenge(): ActiveChallenge | null
  /**
   * Writes down how far it is, before anything follows from it.
   *
   * @throws {LeaseLost}
   */
  advance(changes: {
    readonly ongoing?: OngoingOrder | null
    readonly challenge?: ActiveChallenge | null
  }): Promise<void>
  /**
   * Makes sure that the lease lasts for one more call to the authority.
   *
   * @throws {LeaseLost}
   */
  keep(): Promise<void>
}

export function heldOrder(lease: LeasedOrder, store: Store<{ readonly certificateOrders: CertificateOrderStore }>, clock: Clock): HeldOrder {
  const { host, fence } = lease
  let { ongoing, challenge } = lease
  let keptAt = clock.nowMicros()

  return {
    lease,
    ongoing: () => ongoing,
    challenge: () => challenge,
    async advance(changes) {
      const isOurs = await store.write((stores) =>
        stores.certificateOrders.advance(host, fence, changes),
      )
      if (!isOurs) throw new LeaseLost()
      if (changes.ongoing !== undefined) ongoing = changes.ongoing
      if (changes.challenge !== undefined) challenge = changes.challenge
    },
    async keep() {
      const now = clock.nowMicros()
      if (Math.abs(now - keptAt) < RENEW_MICROS) return
      const isOurs = await store.write((stores) =>
        stores.certificateOrders.extend(host, fence, now + LEASE_MICROS),
      )
      if (!isOurs) throw new LeaseLost()
      keptAt = now
    },
  }
}
