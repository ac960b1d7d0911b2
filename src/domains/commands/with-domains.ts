import { withInstance } from '../../app/cli/with-instance.ts'
import { certificateFinder, openDomains } from '../../app/instance/domains.ts'
import type { Instance } from '../../app/instance/instance.ts'
import type { DomainChecks } from '../domain-checks.ts'
import { type DomainHttps, domainHttps } from '../domain-https.ts'
import type { Domains } from '../domains.ts'

export type DomainTools = {
  readonly instance: Instance
  readonly domains: Domains
  readonly checks: DomainChecks
  readonly https: DomainHttps
  readonly findCertificate: ReturnType<typeof certificateFinder>
}

/** Opens the instance that the settings describe, and its domains, for one command. */
export function withDomains<T>(work: (tools: DomainTools) => Promise<T>): Promise<T> {
  return withInstance((instance, { config, log }) => {
    const { domains, checks } = openDomains(config, instance, log, { isOperator: true })
    const https = domainHttps(instance)
    const findCertificate = certificateFinder(config, instance)
    return work({ instance, domains, checks, https, findCertificate })
  })
}
