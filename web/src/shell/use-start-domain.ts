import { useQuery } from '@tanstack/react-query'
import { defaultDomainQuery, domainsQuery } from '../api/domains.ts'
import { lastDomainOf, rememberDomain } from '../state/last-domains.ts'
import { useMembership } from './use-membership.ts'

type StartDomain = {
  /** Undefined until it is known. */
  readonly host: string | undefined
  /** To be called with the domain of a link that was made. */
  remember(host: string): void
}

/**
 * Where a new link starts: on the default domain of the workspace, else where this person made the last one, else on
 * the oldest domain. Only an active domain is proposed; without one, the service's own host is.
 */
export function useStartDomain(): StartDomain {
  const { session, membership } = useMembership()
  const { data: domains = [], isPending } = useQuery(domainsQuery)
  const { data: preset, isPending: isPresetPending } = useQuery(defaultDomainQuery)
  const of = [session.person.id, membership?.workspace_id ?? ''] as const
  const active = domains.filter(({ status }) => status === 'active').map(({ domain }) => domain)
  const usable = [...active, session.service_host]
  const host = [preset, lastDomainOf(...of), active.at(-1)].find(
    (one) => typeof one === 'string' && usable.includes(one),
  )
  return {
    host: isPending || isPresetPending ? undefined : (host ?? session.service_host),
    remember: (used) => rememberDomain(...of, used),
  }
}
