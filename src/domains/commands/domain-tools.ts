import type { Workspaces } from '../../identity/index.ts'
import type { CertificateFinder } from '../dns-report.ts'
import type { DomainChecks } from '../domain-checks.ts'
import type { DomainHttps } from '../domain-https.ts'
import type { Domains } from '../domains.ts'

/** The services that the domain commands use. */
export type DomainTools = {
  readonly workspaces: Pick<Workspaces, 'get' | 'list'>
  readonly domains: Domains
  readonly checks: DomainChecks
  readonly https: DomainHttps
  readonly findCertificate: CertificateFinder | undefined
}
