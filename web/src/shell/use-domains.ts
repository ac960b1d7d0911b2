import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { ApiError } from '../api/api-error.ts'
import {
  type DnsReportResource,
  DOMAIN_CHOICES_MAX,
  defaultDomainQuery,
  dnsQuery,
  domainsQuery,
  verifyDomain,
} from '../api/domains.ts'
import { lastDomainOf, rememberDomain } from '../state/preference.ts'
import type { Catalogue } from '../text/en.ts'
import { useText } from '../text/use-text.ts'
import { copyWithMessage } from '../widgets/CopyButton.tsx'
import { showError, showMessage } from '../widgets/Toasts.tsx'
import { errorText, SignInCancelled } from './use-faults.ts'
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

/** Where links of the workspace can be: the service's own host, then its domains. */
export function useHosts(): readonly string[] {
  const own = useServiceHost()
  const { data: domains = [] } = useQuery(domainsQuery)
  return [...new Set([own, ...domains.map(({ domain }) => domain)])]
}

/**
 * Returns a function that says whether links on a host do not work: DNS does not prove it, or it is no domain of the workspace
 * any more. False for all hosts until the domains are known, and for hosts that the list of a workspace with very many
 * domains leaves out.
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

/** The host of the service itself, on which every workspace can have links. */
export function useServiceHost(): string {
  return useMembership().session.service_host
}

type DomainActs = {
  /** Checks a domain now, or says why not. */
  verify(id: string): Promise<void>
  /** Copies the DNS records of a domain, with a sentence for who sets them. */
  copyRecords(id: string): Promise<void>
}

export function useDomainActs(): DomainActs {
  const t = useText()
  const client = useQueryClient()
  return {
    verify: (id) => reporting(t, () => verify(client, id)),
    copyRecords: (id) =>
      reporting(t, async () => {
        const report = client.ensureQueryData(dnsQuery(id))
        await copyWithMessage(
          report.then((one) => recordsText(one, t)),
          t,
        )
      }),
  }
}

/** A domain has no DNS records to be set. */
class NoRecords extends Error {}

async function verify(client: QueryClient, id: string): Promise<void> {
  client.setQueryData(dnsQuery(id).queryKey, await verifyDomain(id))
}

async function reporting(t: Catalogue, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (error instanceof SignInCancelled || !(error instanceof Error)) return
    if (error instanceof NoRecords) return showMessage(t.domains.noRecords)
    const isThrottled = error instanceof ApiError && error.status === 429
    const seconds = isThrottled ? error.retryAfterSeconds : undefined
    showError(seconds === undefined ? errorText(error, t) : t.domains.checkedLately(seconds))
  }
}

/** @throws {NoRecords} */
function recordsText({ records, unicode_domain: host }: DnsReportResource, t: Catalogue): string {
  if (records.length === 0) throw new NoRecords()
  const lines = records.map(({ type, full_name, value }) => [type, full_name, value].join('  '))
  return [t.domains.instructions(host), '', ...lines].join('\n')
}
