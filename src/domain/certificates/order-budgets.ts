import { getDomain } from 'tldts'
import type { Nouns } from '../store.ts'
import { type Budget, BudgetSpent } from './budget.ts'
import type { OrderPurpose } from './certificate-order.ts'

const SECOND_MICROS = 1_000_000
const MINUTE_MICROS = 60 * SECOND_MICROS
const HOUR_MICROS = 60 * MINUTE_MICROS

/**
 * About four fifths of what Let's Encrypt allows (https://letsencrypt.org/docs/rate-limits/), so that
 * its limits are never met, however often this process is restarted and on how many nodes it runs:
 * 300 orders an account in 3 hours, 5 failed validations a name in an hour, 5 certificates a name and
 * 50 a registered domain in 7 days.
 */
const ORDERS_OF_ACCOUNT: Budget = { burst: 240, refillMicros: 45 * SECOND_MICROS }
const ORDERS_OF_HOST: Budget = { burst: 4, refillMicros: 15 * MINUTE_MICROS }
const CERTIFICATES_OF_HOST: Budget = { burst: 4, refillMicros: 42 * HOUR_MICROS }
const CERTIFICATES_OF_DOMAIN: Budget = { burst: 40, refillMicros: 252 * MINUTE_MICROS }

type Charge = {
  readonly subject: string
  readonly budget: Budget
  /** In words, for whoever waits for it. */
  readonly owner: string
  /** Whether an order that ends without a certificate gives it back. */
  readonly isRefunded: boolean
}

/**
 * Certificates count for a registered domain when they are the host's first ones alone, as with Let's
 * Encrypt. Renewals in their time are no more of them than their lives allow, so they are not held up
 * by the number of certificates: that would let the short ones end.
 */
function chargesOf(host: string, purpose: OrderPurpose): readonly Charge[] {
  const domain = getDomain(host) ?? host
  const charges: Charge[] = [
    { subject: 'orders', budget: ORDERS_OF_ACCOUNT, owner: 'this service', isRefunded: false },
    { subject: `orders ${host}`, budget: ORDERS_OF_HOST, owner: host, isRefunded: false },
  ]
  if (purpose !== 'renewal') {
    const subject = `certificates ${host}`
    charges.push({ subject, budget: CERTIFICATES_OF_HOST, owner: host, isRefunded: true })
  }
  if (purpose === 'first') {
    const subject = `certificates of ${domain}`
    charges.push({ subject, budget: CERTIFICATES_OF_DOMAIN, owner: domain, isRefunded: true })
  }
  return charges
}

/** An order, as far as budgets are concerned. */
type ChargedOrder = {
  readonly directory: string
  readonly host: string
  readonly purpose: OrderPurpose
}

/**
 * Charges an order to its budgets, as a part of a unit.
 *
 * @throws {BudgetSpent}
 */
export async function chargeOrder(
  stores: Nouns,
  { directory, host, purpose }: ChargedOrder,
  now: number,
): Promise<void> {
  for (const { subject, budget, owner } of chargesOf(host, purpose)) {
    const waitMicros = await stores.acmeBudgets.charge(directory, subject, budget, now)
    if (waitMicros > 0) throw new BudgetSpent(owner, waitMicros)
  }
}

/** Gives back, as a part of a unit, what an order without a certificate need not have cost. */
export async function refundOrder(
  stores: Nouns,
  { directory, host, purpose }: ChargedOrder,
): Promise<void> {
  for (const { subject, budget, isRefunded } of chargesOf(host, purpose)) {
    if (isRefunded) await stores.acmeBudgets.refund(directory, subject, budget)
  }
}
