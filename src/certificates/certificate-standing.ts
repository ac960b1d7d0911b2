import type { CertificateStanding } from '../domains/index.ts'
import { formatBudgetWait } from './budget.ts'
import { firstOrderWait } from './order-budgets.ts'
import type { AcmeAccountStore } from './store/acme-account-store.ts'
import type { AcmeBudgetStore } from './store/acme-budget-store.ts'
import type { CertificateOrderStore } from './store/certificate-order-store.ts'
import type { CertificateStore } from './store/certificate-store.ts'

type StandingStores = {
  readonly certificates: CertificateStore
  readonly certificateOrders: CertificateOrderStore
  readonly acmeAccounts: AcmeAccountStore
  readonly acmeBudgets: AcmeBudgetStore
}

/** @param directory of the authority that certificates come from now */
export async function certificateStanding(
  stores: StandingStores,
  host: string,
  directory: string,
  now: number,
): Promise<CertificateStanding> {
  const [life = null, order, account] = await Promise.all([
    stores.certificates.findLife(host),
    stores.certificateOrders.find(host),
    stores.acmeAccounts.find(directory),
  ])
  if (order === undefined) return { life, problem: null, nextAttemptAt: null }
  const isDue = order.nextAt <= now
  const wait =
    isDue && order.queue !== 'ready'
      ? await firstOrderWait(stores, directory, order.workspaceId, now)
      : undefined
  const ofAccount = isDue ? (account?.failure ?? null) : null
  const problem = order.failure ?? ofAccount ?? (wait && formatBudgetWait(wait)) ?? null
  const pausedUntil = isDue ? (account?.pausedUntil ?? 0) : 0
  const isAwaited = problem !== null || life === null
  const waitUntil = now + (wait?.waitMicros ?? 0)
  const nextAttemptAt = Math.max(order.nextAt, pausedUntil, wait === undefined ? 0 : waitUntil)
  return { life, problem, nextAttemptAt: isAwaited ? nextAttemptAt : null }
}
