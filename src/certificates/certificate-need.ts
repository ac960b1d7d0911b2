import { isIpAddress } from '../platform/network/ip-address.ts'
import type { Clock } from '../platform/time/clock.ts'
import {
  lifeRenewalTime,
  type RenewalWindow,
  renewalTime,
  type SealedCertificate,
} from './certificate.ts'
import { AuthorityError, type CertificateAuthority } from './certificate-authority.ts'
import type { OrderPurpose } from './certificate-order.ts'

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
