import { getDomain } from 'tldts'
import type { AcmeBudgetStore } from './acme-budget-store.ts'
import { type Budget, BudgetSpent, timesLeft, waitMicros } from './budget.ts'
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
/** A quarter of the account's orders is kept for renewals: hosts without a certificate cannot spend it. */
const FIRST_ORDERS_OF_ACCOUNT: Budget = { ...ORDERS_OF_ACCOUNT, kept: 60 }
/** Half of what hosts without a certificate may spend, and half of the account's rate. */
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
  /** In words, for whoever waits for it. */
  readonly owner: string
  /** Whether an order that ends without a certificate gives it back. */
  readonly isRefunded: boolean
}

/**
 * What an order costs the account and the workspace. First orders and renewals of a workspace are
 * counted apart, so that its new hosts do not hold up its renewals.
 *
 * @param workspaceId undefined for the service's own host, which may spend all that the account has
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
 * What an order costs its host and the host's registered domain. Certificates count for a registered
 * domain when they are the host's first ones alone, as with Let's Encrypt, which takes the private part
 * of the Public Suffix List into account too. Renewals in their time are no more of them than their
 * lives allow, so they are not held up by the number of certificates: that would let the short ones end.
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

/** An order, as far as budgets are concerned. */
type ChargedOrder = {
  readonly directory: string
  readonly host: string
  readonly purpose: OrderPurpose
}

/**
 * Charges an order to its budgets, as a part of a unit.
 *
 * @param workspaceId in which the host is active now; undefined for the service's own host
 * @throws {BudgetSpent}
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
    if (wait > 0) throw new BudgetSpent(owner, wait)
  }
}

/** How many first orders may be placed now, by the account's budget and by those of workspaces. */
export async function firstOrdersLeft(
  stores: BudgetStores,
  directory: string,
  workspaceIds: readonly string[],
  now: number,
): Promise<{ readonly ofAccount: number; readonly ofWorkspaces: ReadonlyMap<string, number> }> {
  const leftOf = async (subject: string, budget: Budget) =>
    timesLeft(budget, await stores.acmeBudgets.spentUntil(directory, subject), now)
  const ofWorkspaces = new Map<string, number>()
  for (const id of workspaceIds) {
    if (id === '') continue
    ofWorkspaces.set(id, await leftOf(workspaceSubject('first', id), ORDERS_OF_WORKSPACE))
  }
  return { ofAccount: await leftOf(ACCOUNT_SUBJECT, FIRST_ORDERS_OF_ACCOUNT), ofWorkspaces }
}

/** What the first order of a workspace's host waits for; undefined when it may be placed now. */
export async function firstOrderWait(
  stores: BudgetStores,
  directory: string,
  workspaceId: string,
  now: number,
): Promise<BudgetSpent | undefined> {
  for (const { subject, budget, owner } of sharedChargesOf('first', workspaceId || undefined)) {
    const wait = waitMicros(budget, await stores.acmeBudgets.spentUntil(directory, subject), now)
    if (wait > 0) return new BudgetSpent(owner, wait)
  }
  return undefined
}

/** Gives back, as a part of a unit, what an order without a certificate need not have cost. */
export async function refundOrder(
  stores: BudgetStores,
  { directory, host, purpose }: ChargedOrder,
): Promise<void> {
  for (const { subject, budget, isRefunded } of ownChargesOf(host, purpose)) {
    if (isRefunded) await stores.acmeBudgets.refund(directory, subject, budget)
  }
}
