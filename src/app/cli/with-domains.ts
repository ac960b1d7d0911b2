import type { DomainTools } from '../../domains/commands/domain-tools.ts'
import { DomainHttps } from '../../domains/domain-https.ts'
import { withInstance } from './with-instance.ts'

/** Opens the configured instance and its domain services for one command. */
export function withDomains<T>(work: (tools: DomainTools) => Promise<T>): Promise<T> {
  return withInstance(async (instance, { config, log }) => {
    const { certificateFinder, openDomains } = await import('../instance/domains.ts')
    const { domains, checks } = openDomains(config, instance, log, { isOperator: true })
    const https = new DomainHttps(instance)
    const findCertificate = certificateFinder(config, instance)
    return work({ workspaces: instance.workspaces, domains, checks, https, findCertificate })
  })
}
