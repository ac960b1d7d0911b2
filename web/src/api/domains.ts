import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { DnsReportResource } from '@terse/contract/dns-report'
import type { DomainHttpsResource } from '@terse/contract/domain-https'
import type { DomainSettingsResource } from '@terse/contract/domain-settings'
import type {
  DefaultDomainResource,
  DomainResource,
  IncludingDomain,
} from '@terse/contract/domains'
import {
  ifMatch,
  type ListPage,
  request,
  requestAll,
  requestVersioned,
  WHILE_EDITED,
} from './request.ts'

export type { DnsReportResource, DomainResource, DomainSettingsResource }

/** A domain with what the page about domains shows of it. */
export type ShownDomain = DomainResource & {
  readonly [Part in 'links' | 'dns' | 'https' | 'is_default']: Exclude<
    IncludingDomain[Part],
    undefined
  >
}

/** The most domains that a choice of domains offers. */
export const DOMAIN_CHOICES_MAX = 1_000
const COUNTED_MAX = 100
const PER_PAGE = 25
/** How often DNS is asked about a pending domain that is shown. */
const PROVING_MS = 5_000
/** How often a list with pending domains is read again; checks of the service are less frequent. */
const PENDING_MS = 15_000
const INCLUDE = 'links,dns,https,default'

/** Every key of a query about domains begins so. */
export const DOMAINS_KEY = ['domains'] as const
/** Every key of a list of domains, and of the default one, begins so. */
export const DOMAIN_LISTS_KEY = [...DOMAINS_KEY, 'list'] as const

/** The domains of this workspace, for choices: the newest thousand. */
export const domainsQuery = queryOptions({
  queryKey: [...DOMAIN_LISTS_KEY, 'choices'],
  queryFn: ({ signal }) =>
    requestAll<DomainResource>('/domains', { signal, max: DOMAIN_CHOICES_MAX }),
  staleTime: 30_000,
})

/** How many links are on the newest hundred domains, by host. */
export const domainCountsQuery = queryOptions({
  queryKey: [...DOMAIN_LISTS_KEY, 'counts'],
  async queryFn({ signal }) {
    const query = { per_page: COUNTED_MAX, include: 'links' }
    const { data } = await request<ListPage<IncludingDomain>>('GET', '/domains', { query, signal })
    return new Map(data.map(({ domain, links }) => [domain, links ?? undefined]))
  },
  staleTime: 5_000,
})

export function domainPageQuery(page: number) {
  return queryOptions({
    queryKey: [...DOMAIN_LISTS_KEY, 'page', page],
    queryFn: ({ signal }) =>
      request<ListPage<ShownDomain>>('GET', '/domains', {
        query: { page, per_page: PER_PAGE, include: INCLUDE },
        signal,
      }),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ status }) => status === 'pending') ? PENDING_MS : false,
    placeholderData: keepPreviousData,
    staleTime: 5_000,
  })
}

export function domainQuery(id: string) {
  return queryOptions({
    queryKey: [...DOMAIN_LISTS_KEY, 'one', id],
    queryFn: ({ signal }) =>
      request<ShownDomain>('GET', `/domains/${id}`, { query: { include: INCLUDE }, signal }),
    staleTime: 5_000,
  })
}

/** The domain on which new links of the workspace start; null for none. */
export const defaultDomainQuery = queryOptions({
  queryKey: [...DOMAIN_LISTS_KEY, 'default'],
  queryFn: async ({ signal }) =>
    (await request<DefaultDomainResource>('GET', '/default-domain', { signal })).domain,
  staleTime: 30_000,
})

/** What DNS says about a domain now. It is asked again every few seconds while the domain is pending. */
export function dnsQuery(id: string) {
  return queryOptions({
    queryKey: [...DOMAINS_KEY, 'dns', id],
    queryFn: ({ signal }) => request<DnsReportResource>('GET', `/domains/${id}/dns`, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? PROVING_MS : false),
    staleTime: PROVING_MS,
  })
}

/** The certificate and HSTS. */
export function httpsQuery(id: string) {
  return queryOptions({
    queryKey: [...DOMAINS_KEY, 'https', id],
    queryFn: ({ signal }) =>
      request<DomainHttpsResource>('GET', `/domains/${id}/https`, { signal }),
    staleTime: 30_000,
  })
}

export function addDomain(domain: string): Promise<DomainResource> {
  return request('POST', '/domains', { body: { domain } })
}

export function changeDomain(
  id: string,
  fields: Partial<Pick<DomainResource, 'not_found_url' | 'expired_url'>>,
): Promise<DomainResource> {
  return request('PATCH', `/domains/${id}`, { body: fields })
}

export function setDefaultDomain(domain: string | null): Promise<DefaultDomainResource> {
  return request('PUT', '/default-domain', { body: { domain } })
}

/** Settings that are about to be edited: as they are now, and unchanged until they are asked for again. */
export function editedDomainSettingsQuery(id: string) {
  return queryOptions({
    queryKey: ['edited-domain-settings', id],
    queryFn: ({ signal }) =>
      requestVersioned<DomainSettingsResource>(`/domains/${id}/settings`, { signal }),
    ...WHILE_EDITED,
  })
}

/**
 * @param fields the documents may be anything: the API checks them
 * @param version fails with 412 where the settings have another one by now
 */
export function changeDomainSettings(
  id: string,
  fields: { readonly [F in keyof Omit<DomainSettingsResource, 'domain'>]?: unknown },
  version: string | undefined,
): Promise<DomainSettingsResource> {
  return request('PATCH', `/domains/${id}/settings`, { body: fields, headers: ifMatch(version) })
}

/** @param seconds null sends no header; 0 ends HSTS in browsers */
export function changeHsts(id: string, seconds: number | null): Promise<DomainHttpsResource> {
  return request('PUT', `/domains/${id}/https`, { body: { hsts_max_age: seconds } })
}

/** Checks a domain and changes its status accordingly; at most once a minute. */
export function verifyDomain(id: string): Promise<DnsReportResource> {
  return request('POST', `/domains/${id}/verify`)
}

export function removeDomain(id: string): Promise<unknown> {
  return request('DELETE', `/domains/${id}`)
}

/** The host of a typed or pasted address; what is no address stays as it is, for the API to judge. */
export function hostOf(typed: string): string {
  const text = typed.trim()
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`
  const isAddress = /[:/?#@]/.test(text) && URL.canParse(url)
  return isAddress ? new URL(url).hostname : text
}
