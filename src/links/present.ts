import type { DnsReportResource } from '../../contract/dns-report.ts'
import type { DomainHttpsResource } from '../../contract/domain-https.ts'
import type { DomainResource } from '../../contract/domains.ts'
import type { LinkResource } from '../../contract/links.ts'
import type { DnsReport } from '../domains/dns-report.ts'
import type { Domain } from '../domains/domain.ts'
import type { HttpsState } from '../domains/domain-https.ts'
import { displayHost } from '../hosts/host.ts'
import { formatInstant } from '../platform/time/instant.ts'
import type { Link } from './link.ts'
import { shortLink } from './short-link.ts'

/** A link as the API shows it, in the order of the specification's table. */
export function presentLink(link: Link): LinkResource {
  return {
    id: link.id,
    workspace_id: link.workspace_id,
    domain: link.domain,
    key: link.key,
    url: link.url,
    link: shortLink(link),
    ios: link.ios,
    android: link.android,
    utm_source: link.utm_source,
    utm_medium: link.utm_medium,
    utm_campaign: link.utm_campaign,
    utm_term: link.utm_term,
    utm_content: link.utm_content,
    utm_name: link.utm_name,
    clicks: link.clicks,
    last_click: link.last_click === null ? null : Math.floor(link.last_click / 1_000_000),
    external_id: link.external_id,
    password: link.password,
    expires_at: link.expires_at,
    expired_redirect_url: link.expired_redirect_url,
    tags: [...link.tags],
    created_at: formatInstant(link.created_at),
    updated_at: formatInstant(link.updated_at),
  }
}

/** A link in the answer to its creation, where the specification shows no count yet. */
export function presentCreatedLink(link: Link): LinkResource {
  return { ...presentLink(link), clicks: null }
}

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
    certificate: certificate && {
      valid_until: instant(certificate.life?.notAfter ?? null),
      problem: certificate.problem,
      next_attempt_at: instant(certificate.nextAttemptAt),
    },
  }
}

export function presentDomainHttps({
  domain,
  certificate,
  hstsMaxAge,
}: HttpsState): DomainHttpsResource {
  return {
    domain: domain.host,
    certificate: certificate && {
      valid_from: formatInstant(certificate.notBefore),
      valid_until: formatInstant(certificate.notAfter),
    },
    hsts_max_age: hstsMaxAge,
  }
}
