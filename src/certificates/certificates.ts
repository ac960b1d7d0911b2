import type { CertificateStanding } from '../domains/index.ts'
import { isIpAddress } from '../platform/network/ip-address.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type ChangeLog, certificateChange } from '../storage/changes.ts'
import type { Store } from '../storage/store.ts'
import type { KeyVault } from './account-manager.ts'
import {
  type Certificate,
  lifeRenewalTime,
  type RenewalWindow,
  renewalTime,
  type SealedCertificate,
} from './certificate.ts'
import { AuthorityError, type CertificateAuthority } from './certificate-authority.ts'
import { formatBudgetWait, type OrderPurpose } from './certificate-order.ts'
import { firstOrderWait } from './order-budgets.ts'
import type { AcmeAccountStore, AcmeBudgetStore } from './store/acme-store.ts'
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

const MINUTE_MICROS = 60_000_000
const HOUR_MICROS = 60 * MINUTE_MICROS
/**
 * How often renewal information is requested when the authority gives no interval (RFC 9773,
 * section 4.3.3).
 */
const INFO_INTERVAL_MICROS = 6 * HOUR_MICROS
const INFO_INTERVAL_MICROS_MAX = 24 * HOUR_MICROS

/**
 * The purpose of an order to place now, or when to check again, in microseconds since the epoch.
 */
type CertificateNeed = OrderPurpose | { readonly checkAgainAt: number }

export type NeedContext = {
  readonly clock: Clock
  readonly authority: Pick<CertificateAuthority, 'directory' | 'findRenewalInfo'>
  /** Saves the authority's renewal window with the certificate, for every node. */
  readonly saveRenewalWindow: (host: string, ariId: string, window: RenewalWindow) => Promise<void>
}

/**
 * Decides whether a host needs an order now.
 *
 * @param current the certificate in use
 */
export async function certificateNeed(
  context: NeedContext,
  current: SealedCertificate | undefined,
): Promise<CertificateNeed> {
  const { clock, authority } = context
  const now = clock.nowMicros()
  if (current === undefined) return 'first'
  // The operator has configured another authority: replace the certificate now, and use it until then.
  if (current.directory !== authority.directory || current.notAfter <= now) return 'renewal'
  const { renewalWindow, askAt } = await refreshRenewalWindow(context, current, now)
  const renewAt = renewalTime({ ...current, renewalWindow })
  if (renewAt <= now) return now >= lifeRenewalTime(current) ? 'renewal' : 'advised'
  return { checkAgainAt: Math.min(renewAt, askAt) }
}

/**
 * Requests the renewal window, and returns when to request it again. After a failure the known one
 * stays.
 */
async function refreshRenewalWindow(
  { authority, saveRenewalWindow }: NeedContext,
  { host, ariId, renewalWindow }: SealedCertificate,
  now: number,
): Promise<{ readonly renewalWindow: RenewalWindow | null; readonly askAt: number }> {
  const never = { renewalWindow, askAt: Number.MAX_SAFE_INTEGER }
  if (ariId === null) return never
  try {
    const info = await authority.findRenewalInfo(ariId)
    if (info === undefined) return never
    const { window, retryAfterMs } = info
    if (window.start !== renewalWindow?.start || window.end !== renewalWindow.end) {
      await saveRenewalWindow(host, ariId, window)
    }
    return { renewalWindow: window, askAt: now + askAgainMicros(retryAfterMs) }
  } catch (error) {
    if (!(error instanceof AuthorityError)) throw error
    return { renewalWindow, askAt: now + askAgainMicros(error.retryAfterMs) }
  }
}

/**
 * At most a day, so that a window which changes in an emergency is noticed (RFC 9773, section
 * 4.3.2).
 */
function askAgainMicros(retryAfterMs: number | undefined): number {
  const micros = retryAfterMs === undefined ? INFO_INTERVAL_MICROS : retryAfterMs * 1_000
  return Math.min(Math.max(micros, MINUTE_MICROS), INFO_INTERVAL_MICROS_MAX)
}

/** Names for which no certificate authority can validate control (RFC 6761, RFC 6762). */
const LOCAL = /(?:^|\.)(?:localhost|local)$/

/** Whether a public certificate authority could issue for a host. */
export function isCertifiable(host: string): boolean {
  return host.includes('.') && !LOCAL.test(host) && !isIpAddress(host)
}
