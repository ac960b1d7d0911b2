import type { DnsReportResource } from '@terse/contract/dns-report'
import type { DomainHttpsResource } from '@terse/contract/domain-https'
import type { DefaultDomainResource, DomainResource } from '@terse/contract/domains'
import { displayHost } from '../hosts/index.ts'
import { formatInstant } from '../platform/time/clock.ts'
import { pendingFrom } from './check-schedule.ts'
import type { DnsReport } from './dns-lookup.ts'
import type { Domain } from './domain.ts'
import type { HttpsState } from './domain-https.ts'

export function presentDomain(domain: Domain): DomainResource {
  return {
    id: domain.id,
    workspace_id: domain.workspace_id,
    domain: domain.host,
    status: domain.status,
    not_found_url: domain.not_found_url,
    expired_url: domain.expired_url,
    created_at: formatInstant(domain.created_at),
    updated_at: formatInstant(domain.updated_at),
  }
}

export function presentDefaultDomain(domain: Domain | undefined): DefaultDomainResource {
  return { domain: domain?.host ?? null }
}

export function presentDnsReport(report: DnsReport): DnsReportResource {
  const instant = (micros: number | null) => (micros === null ? null : formatInstant(micros))
  const { seen, certificate } = report
  return {
    domain: report.domain.host,
    unicode_domain: displayHost(report.domain.host),
    status: report.domain.status,
    proof: report.policy,
    verdict: report.verdict,
    records: report.records.map((record) => ({ ...record })),
    seen: { txt: [...seen.txt], cname: [...seen.cname], a: [...seen.a], aaaa: [...seen.aaaa] },
    differences: report.differences.map((difference) => ({ ...difference })),
    last_check_at: instant(report.checkedAt),
    next_check_at: instant(report.nextCheckAt),
    missing_since: instant(report.missingSince),
    pending_from: instant(report.missingSince && pendingFrom(report.missingSince)),
    certificate: certificate && {
      valid_until: instant(certificate.life?.notAfter ?? null),
      problem: certificate.problem,
      next_attempt_at: instant(certificate.nextAttemptAt),
    },
  }
}

export function presentDomainHttps({ domain, ...state }: HttpsState): DomainHttpsResource {
  return { domain: domain.host, ...presentHttps(state) }
}

export function presentHttps({
  certificate,
  hstsMaxAge,
}: Omit<HttpsState, 'domain'>): Omit<DomainHttpsResource, 'domain'> {
  return {
    certificate: certificate && {
      valid_from: formatInstant(certificate.notBefore),
      valid_until: formatInstant(certificate.notAfter),
    },
    hsts_max_age: hstsMaxAge,
  }
}
