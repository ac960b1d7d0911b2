import { isCertifiable } from '../../certificates/index.ts'
import type { CertificateStanding } from '../../domains/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ServedCertificate } from '../../platform/tls/probe-certificate.ts'
import type { Finding } from './finding.ts'

/** A certificate that ends so soon will hardly be renewed by itself. */
const ENDS_SOON_MS = 24 * 60 * 60 * 1_000

/** On the certificate that is kept here for a host, and on the orders of it. */
export function storedFindings(
  servesHttps: boolean,
  host: string,
  standing: CertificateStanding | undefined,
  clock: Clock,
): readonly Finding[] {
  const subject = 'certificate'
  if (!servesHttps) {
    return [{ subject, state: 'skipped', text: 'TERSE_TLS=off leaves it to a proxy in front' }]
  }
  if (!isCertifiable(host)) {
    return [{ subject, state: 'skipped', text: 'no authority issues any for such a name' }]
  }
  const { life = null, problem = null, nextAttemptAt = null } = standing ?? {}
  const end = life && endFinding(subject, 'the one here', life.notAfter / 1_000, clock)
  if (problem !== null) {
    const again = nextAttemptAt === null ? '' : ` It is tried again at ${instant(nextAttemptAt)}.`
    const failed: Finding = {
      subject,
      state: end?.state === 'ok' ? 'warning' : 'problem',
      text: `the ${life === null ? 'first' : 'next'} one could not be had: ${problem}`,
      advice: `See to what it says: the name must lead here for the authority, too.${again}`,
    }
    return end === null ? [failed] : [end, failed]
  }
  if (end !== null) return [end]
  const advice = 'One is asked for once the domain is active; the log of the service tells more.'
  return [{ subject, state: 'warning', text: 'there is none here yet', advice }]
}

/** On the certificate that visitors of the host are shown, whoever shows it. */
export function shownFinding(shown: ServedCertificate | undefined, clock: Clock): Finding {
  const subject = 'https'
  if (shown === undefined) {
    return { subject, state: 'skipped', text: 'not looked at: the name does not lead here' }
  }
  if (shown.kind === 'none') {
    return { subject, state: 'warning', text: `visitors get no certificate (${shown.reason})` }
  }
  const { issuer, validUntil, error } = shown
  if (error !== undefined) {
    return {
      subject,
      state: 'problem',
      text: `visitors are shown a certificate that browsers refuse (${error}), from ${issuer}`,
      advice: 'Whoever answers at this address must have a certificate for this name.',
    }
  }
  return endFinding(
    subject,
    `visitors are shown one from ${issuer}, which`,
    validUntil.getTime(),
    clock,
  )
}

function endFinding(subject: string, what: string, endMs: number, clock: Clock): Finding {
  const leftMs = endMs - clock.nowMicros() / 1_000
  const until = new Date(endMs).toISOString()
  if (leftMs <= 0) {
    const advice = 'It was not renewed; the log of whoever renews it tells why.'
    return { subject, state: 'problem', text: `${what} ended at ${until}`, advice }
  }
  const text = `${what} counts until ${until}`
  if (leftMs >= ENDS_SOON_MS) return { subject, state: 'ok', text }
  const advice = 'It should have been renewed by now; the log of whoever renews it tells why.'
  return { subject, state: 'warning', text, advice }
}

function instant(micros: number): string {
  return new Date(micros / 1_000).toISOString()
}
