import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { DOMAIN_CHOICES_MAX, domainsQuery } from '../api/domains.ts'
import { useServiceHost } from './use-service-host.ts'

/**
 * Says of a host whether links on it do not work: DNS does not prove it, or it is no domain of the workspace any more.
 * False for all hosts until the domains are known, and for those that a workspace with very many leaves out.
 */
export function useIsUnproved(): (host: string) => boolean {
  const own = useServiceHost()
  const { data: domains } = useQuery(domainsQuery)
  return useMemo(() => {
    const statuses = new Map(domains?.map(({ domain, status }) => [domain, status]))
    const areAllKnown = domains !== undefined && domains.length < DOMAIN_CHOICES_MAX
    return (host) =>
      host !== own && (statuses.get(host) === 'pending' || (areAllKnown && !statuses.has(host)))
  }, [own, domains])
}
