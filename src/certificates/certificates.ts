import type { CertificateStanding } from '../domains/index.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type ChangeLog, certificateChange } from '../storage/changes.ts'
import type { Store } from '../storage/store.ts'
import type { KeyVault } from './account-manager.ts'
import { formatBudgetWait } from './budget.ts'
import type { Certificate, SealedCertificate } from './certificate.ts'
import { firstOrderWait } from './order-budgets.ts'
import type { AcmeAccountStore } from './store/acme-account-store.ts'
import type { AcmeBudgetStore } from './store/acme-budget-store.ts'
import type { CertificateOrderStore } from './store/certificate-order-store.ts'
import type { CertificateStore } from './store/certificate-store.ts'

export type CertificateStores = {
  readonly certificates: CertificateStore
  readonly changes: ChangeLog
}

/** Reads and writes certificates with their private keys, which are sealed in the store. */
export class Certificates {
  readonly #store: Store<CertificateStores>
  readonly #vault: KeyVault
  readonly #clock: Clock

  constructor(options: { store: Store<CertificateStores>; vault: KeyVault; clock: Clock }) {
    this.#store = options.store
    this.#vault = options.vault
    this.#clock = options.clock
  }

  async find(host: string): Promise<Certificate | undefined> {
    const sealed = await this.#store.read.certificates.find(host)
    return sealed && this.open(sealed)
  }

  /** @throws for a key that was sealed with another secret key, or for another host */
  open({ sealedKey, ...facts }: SealedCertificate): Certificate {
    return { ...facts, keyPem: this.#vault.open(facts.host, sealedKey) }
  }

  /**
   * Replaces the host's certificate within the caller's transaction. Every node uses it within a second
   * of the commit.
   */
  async save(stores: CertificateStores, { keyPem, ...facts }: Certificate): Promise<void> {
    const now = this.#clock.nowMicros()
    const sealedKey = this.#vault.seal(facts.host, keyPem)
    await stores.certificates.save({ ...facts, sealedKey }, now)
    await stores.changes.append(certificateChange(facts.host), now)
  }

  /**
   * Removes the host's certificate within the caller's transaction. Within a second of the commit every
   * node refuses handshakes for the host.
   */
  async remove(stores: CertificateStores, host: string): Promise<void> {
    if (!(await stores.certificates.remove(host))) return
    await stores.changes.append(certificateChange(host), this.#clock.nowMicros())
  }
}

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
