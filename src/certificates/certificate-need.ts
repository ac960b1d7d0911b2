import type { Clock } from '../platform/time/clock.ts'
import { AuthorityError } from './authority-error.ts'
import type { RenewalWindow, SealedCertificate } from './certificate.ts'
import type { CertificateAuthority } from './certificate-authority.ts'
import type { OrderPurpose } from './certificate-order.ts'
import { lifeRenewalTime, renewalTime } from './renewal-time.ts'

const MINUTE_MICROS = 60_000_000
const HOUR_MICROS = 60 * MINUTE_MICROS
/** How often the authority is asked for advice where it does not say (RFC 9773, section 4.3.3). */
const ADVICE_MICROS = 6 * HOUR_MICROS
const ADVICE_MICROS_MAX = 24 * HOUR_MICROS

/** An order, or nothing before some time. Microseconds since the epoch. */
export type CertificateNeed = OrderPurpose | { readonly restUntil: number }

/** Whom a host's need of a certificate is asked of, and where what they say is kept. */
export type NeedSources = {
  readonly clock: Clock
  readonly authority: Pick<CertificateAuthority, 'directory' | 'findRenewalInfo'>
  /** Keeps the authority's advice with the certificate, for every node. */
  readonly noteAdvice: (host: string, ariId: string, window: RenewalWindow) => Promise<void>
}

/**
 * What a host needs now.
 *
 * @param current the certificate in use
 */
export async function certificateNeed(
  sources: NeedSources,
  current: SealedCertificate | undefined,
): Promise<CertificateNeed> {
  const { clock, authority } = sources
  const now = clock.nowMicros()
  if (current === undefined) return 'first'
  // Another authority than the operator wants by now: renewed at once, and used until then.
  if (current.directory !== authority.directory || current.notAfter <= now) return 'renewal'
  const { renewalWindow, askAt } = await takeAdvice(sources, current, now)
  const renewAt = renewalTime({ ...current, renewalWindow })
  if (renewAt <= now) return now >= lifeRenewalTime(current) ? 'renewal' : 'advised'
  return { restUntil: Math.min(renewAt, askAt) }
}

/** The authority's advice on renewal, and when to ask again. What cannot be had leaves it as it was. */
async function takeAdvice(
  { authority, noteAdvice }: NeedSources,
  { host, ariId, renewalWindow }: SealedCertificate,
  now: number,
): Promise<{ readonly renewalWindow: RenewalWindow | null; readonly askAt: number }> {
  const never = { renewalWindow, askAt: Number.MAX_SAFE_INTEGER }
  if (ariId === null) return never
  try {
    const advice = await authority.findRenewalInfo(ariId)
    if (advice === undefined) return never
    const { window, retryAfterMs } = advice
    if (window.start !== renewalWindow?.start || window.end !== renewalWindow.end) {
      await noteAdvice(host, ariId, window)
    }
    return { renewalWindow: window, askAt: now + askAgainMicros(retryAfterMs) }
  } catch (error) {
    if (!(error instanceof AuthorityError)) throw error
    return { renewalWindow, askAt: now + askAgainMicros(error.retryAfterMs) }
  }
}

/** At most a day, so that advice which changes in an emergency is heard (RFC 9773, section 4.3.2). */
function askAgainMicros(retryAfterMs: number | undefined): number {
  const micros = retryAfterMs === undefined ? ADVICE_MICROS : retryAfterMs * 1_000
  return Math.min(Math.max(micros, MINUTE_MICROS), ADVICE_MICROS_MAX)
}
