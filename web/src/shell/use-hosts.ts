import { useQuery } from '@tanstack/react-query'
import { domainsQuery } from '../api/domains.ts'
import { useServiceHost } from './use-service-host.ts'

/** Where links of the workspace can be: the service's own host, then its domains. */
export function useHosts(): readonly string[] {
  const own = useServiceHost()
  const { data: domains = [] } = useQuery(domainsQuery)
  return [...new Set([own, ...domains.map(({ domain }) => domain)])]
}
