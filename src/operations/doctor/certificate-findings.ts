import { isCertifiable } from '../../certificates/index.ts'
import type { CertificateStanding } from '../../domains/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ServedCertificate } from '../../platform/tls/probe-certificate.ts'
import type { Finding } from './finding.ts'

/** A certificate that expires this soon should already have been renewed automatically. */
const ENDS_SOON_MS = 24 * 60 * 60 * 1_000

/** Reports on the stored certificate of a host and on its orders. */
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
    return [{ subject, state: 'skipped', text: 'no authority issues certificates for such a name' }]
  }
  const { life = null, problem = null, nextAttemptAt = null } = standing ?? {}
  const end = life && endFinding(subject, 'the stored certificate', life.notAfter / 1_000, clock)
  if (problem !== null) {
    const again = nextAttemptAt === null ? '' : ` The next attempt is at ${instant(nextAttemptAt)}.`
    const failed: Finding = {
      subject,
      state: end?.state === 'ok' ? 'warning' : 'problem',
      text: `the ${life === null ? 'first order' : 'renewal'} failed: ${problem}`,
      advice: `Resolve this problem; the authority, too, must reach this service by the name.${again}`,
    }
    return end === null ? [failed] : [end, failed]
  }
  if (end !== null) return [end]
  const advice = 'It is ordered once the domain is active; see the log of the service.'
  return [{ subject, state: 'warning', text: 'none is stored yet', advice }]
}

/**
 * Reports on the certificate that visitors of the host receive, from this service or from a proxy.
 */
export function shownFinding(shown: ServedCertificate | undefined, clock: Clock): Finding {
  const subject = 'https'
  if (shown === undefined) {
    return { subject, state: 'skipped', text: 'not checked: the name does not lead here' }
  }
  if (shown.kind === 'none') {
    return { subject, state: 'warning', text: `visitors get no certificate (${shown.reason})` }
  }
  const { issuer, validUntil, error } = shown
  if (error !== undefined) {
    return {
      subject,
      state: 'problem',
      text: `visitors receive a certificate that browsers refuse (${error}), from ${issuer}`,
      advice: 'The server at this address needs a valid certificate for this name.',
    }
  }
  return endFinding(
    subject,
    `visitors receive one from ${issuer}, which`,
    validUntil.getTime(),
    clock,
  )
}

function endFinding(subject: string, what: string, endMs: number, clock: Clock): Finding {
  const leftMs = endMs - clock.nowMicros() / 1_000
  const until = new Date(endMs).toISOString()
  if (leftMs <= 0) {
    const advice = 'It was not renewed; see the log of the server that renews it.'
    return { subject, state: 'problem', text: `${what} expired at ${until}`, advice }
  }
  const text = `${what} is valid until ${until}`
  if (leftMs >= ENDS_SOON_MS) return { subject, state: 'ok', text }
  const advice = 'It should have been renewed by now; see the log of the server that renews it.'
  return { subject, state: 'warning', text, advice }
}

function instant(micros: number): string {
  return new Date(micros / 1_000).toISOString()
}
