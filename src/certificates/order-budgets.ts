import { getDomain } from 'tldts'
import {
  type Budget,
  BudgetExhausted,
  countRemaining,
  type OrderPurpose,
  waitMicros,
} from './certificate-order.ts'
import type { AcmeBudgetStore } from './store/acme-store.ts'

const SECOND_MICROS = 1_000_000
const MINUTE_MICROS = 60 * SECOND_MICROS
const HOUR_MICROS = 60 * MINUTE_MICROS

/**
 * The budgets are about four fifths of Let's Encrypt's limits (https://letsencrypt.org/docs/rate-limits/):
 * 300 orders an account in 3 hours, 5 failed validations a name in an hour, 5 certificates a name and
 * 50 a registered domain in 7 days. They are in the store, so restarts and further nodes do not add to them.
 */
const ORDERS_OF_ACCOUNT: Budget = { burst: 240, refillMicros: 45 * SECOND_MICROS }
/** A quarter of the account's orders is reserved for renewals. */
const FIRST_ORDERS_OF_ACCOUNT: Budget = { ...ORDERS_OF_ACCOUNT, reserved: 60 }
/** Half of the burst of first orders, and half of the account's rate. */
const ORDERS_OF_WORKSPACE: Budget = { burst: 90, refillMicros: 90 * SECOND_MICROS }
const ORDERS_OF_HOST: Budget = { burst: 4, refillMicros: 15 * MINUTE_MICROS }
const CERTIFICATES_OF_HOST: Budget = { burst: 4, refillMicros: 42 * HOUR_MICROS }
const CERTIFICATES_OF_DOMAIN: Budget = { burst: 40, refillMicros: 252 * MINUTE_MICROS }

const ACCOUNT_SUBJECT = 'orders'

function workspaceSubject(purpose: OrderPurpose, workspaceId: string): string {
  return `${purpose === 'first' ? 'first orders' : 'renewals'} of workspace ${workspaceId}`
}

type Charge = {
  readonly subject: string
  readonly budget: Budget
  /** The owner of the budget in words, for the message of `BudgetExhausted`. */
  readonly owner: string
  /** Whether it is refunded for an order that ends without a certificate. */
  readonly isRefunded: boolean
}

/**
 * Returns an order's charges to the account and the workspace. First orders and renewals of a workspace
 * have separate budgets, so that its new hosts do not delay its renewals.
 *
 * @param workspaceId undefined for the service's own host, which may use the account's whole budget
 */
function sharedChargesOf(
  purpose: OrderPurpose,
  workspaceId: string | undefined,
): readonly Charge[] {
  const isFirst = purpose === 'first' && workspaceId !== undefined
  const ofAccount: Charge = {
    subject: ACCOUNT_SUBJECT,
    budget: isFirst ? FIRST_ORDERS_OF_ACCOUNT : ORDERS_OF_ACCOUNT,
    owner: 'this service',
    isRefunded: false,
  }
  if (workspaceId === undefined) return [ofAccount]
  const ofWorkspace: Charge = {
    subject: workspaceSubject(purpose, workspaceId),
    budget: ORDERS_OF_WORKSPACE,
    owner: 'this workspace',
    isRefunded: false,
  }
  return [ofAccount, ofWorkspace]
}

/**
 * Returns an order's charges to its host and the host's registered domain. As at Let's Encrypt, only first
 * certificates count for a registered domain, and the private part of the Public Suffix List counts too.
 * Renewals by age are not charged as certificates: their number is bounded by the certificates' lives,
 * and short-lived certificates would expire while they wait.
 */
function ownChargesOf(host: string, purpose: OrderPurpose): readonly Charge[] {
  const domain = getDomain(host, { allowPrivateDomains: true }) ?? host
  const charges: Charge[] = [
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

export type BudgetStores = { readonly acmeBudgets: AcmeBudgetStore }

/** The parts of an order that decide its charges. */
type ChargedOrder = {
  readonly directory: string
  readonly host: string
  readonly purpose: OrderPurpose
}

/**
 * Charges an order to its budgets within the caller's transaction.
 *
 * @param workspaceId the workspace in which the host is active; undefined for the service's own host
 * @throws {BudgetExhausted}
 */
export async function chargeOrder(
  stores: BudgetStores,
  { directory, host, purpose }: ChargedOrder,
  workspaceId: string | undefined,
  now: number,
): Promise<void> {
  const charges = [...sharedChargesOf(purpose, workspaceId), ...ownChargesOf(host, purpose)]
  for (const { subject, budget, owner } of charges) {
    const wait = await stores.acmeBudgets.charge(directory, subject, budget, now)
    if (wait > 0) throw new BudgetExhausted(owner, wait)
  }
}

/** Returns how many first orders the budgets of the account and of workspaces allow now. */
export async function firstOrdersLeft(
  stores: BudgetStores,
  directory: string,
  workspaceIds: readonly string[],
  now: number,
): Promise<{ readonly ofAccount: number; readonly ofWorkspaces: ReadonlyMap<string, number> }> {
  const leftOf = async (subject: string, budget: Budget) =>
    countRemaining(budget, await stores.acmeBudgets.spentUntil(directory, subject), now)
  const ofWorkspaces = new Map<string, number>()
  for (const id of workspaceIds) {
    if (id === '') continue
    ofWorkspaces.set(id, await leftOf(workspaceSubject('first', id), ORDERS_OF_WORKSPACE))
  }
  return { ofAccount: await leftOf(ACCOUNT_SUBJECT, FIRST_ORDERS_OF_ACCOUNT), ofWorkspaces }
}

/**
 * Returns the budget that a first order of a workspace waits for; undefined when it may be placed
 * now.
 */
export async function firstOrderWait(
  stores: BudgetStores,
  directory: string,
  workspaceId: string,
  now: number,
): Promise<BudgetExhausted | undefined> {
  for (const { subject, budget, owner } of sharedChargesOf('first', workspaceId || undefined)) {
    const wait = waitMicros(budget, await stores.acmeBudgets.spentUntil(directory, subject), now)
    if (wait > 0) return new BudgetExhausted(owner, wait)
  }
  return undefined
}

/** Refunds an order that ended without a certificate, within the caller's transaction. */
export async function refundOrder(
  stores: BudgetStores,
  { directory, host, purpose }: ChargedOrder,
): Promise<void> {
  for (const { subject, budget, isRefunded } of ownChargesOf(host, purpose)) {
    if (isRefunded) await stores.acmeBudgets.refund(directory, subject, budget)
  }
}
