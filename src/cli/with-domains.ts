import { certificateFinder, openDomains } from '../compose/domains.ts'
import type { Instance } from '../compose/instance.ts'
import { readConfig } from '../config/read-config.ts'
import type { DomainChecks } from '../domain/domains/domain-checks.ts'
import { type DomainHttps, domainHttps } from '../domain/domains/domain-https.ts'
import type { Domains } from '../domain/domains/domains.ts'
import { createLogger } from './logger.ts'
import { withInstance } from './with-instance.ts'

export type DomainTools = {
  readonly instance: Instance
  readonly domains: Domains
  readonly checks: DomainChecks
  readonly https: DomainHttps
  readonly findCertificate: ReturnType<typeof certificateFinder>
}

/** Opens the instance that the environment describes, and its domains, for one command. */
export function withDomains<T>(work: (tools: DomainTools) => Promise<T>): Promise<T> {
  const config = readConfig()
  const log = createLogger(config.logLevel)
  return withInstance((instance) => {
    const { domains, checks } = openDomains(config, instance, log, { isOperator: true })
    const https = domainHttps(instance)
    const findCertificate = certificateFinder(config, instance)
    return work({ instance, domains, checks, https, findCertificate })
  })
}
