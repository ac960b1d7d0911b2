import type { LinkOptionsResource } from '@terse/contract/link-options'
import type { LinkResource } from '@terse/contract/links'
import type { CallApi, Query } from '../identity/index.ts'
import { keyOfPath } from '../links/index.ts'

/** A link with its options, as other services have them on the link itself. */
export type CompatLink = LinkResource & {
  readonly options: LinkOptionsResource
  readonly rule_count: number
}

export type LinkList = {
  readonly data: readonly CompatLink[]
  readonly meta: { readonly total: number; readonly next_cursor?: string | null }
}

/** Where a link is: on which host, under which key. */
export type LinkAddress = { readonly domain: string; readonly key: string }

/** What the lists of links, and one link, are read with. */
export const WITH_OPTIONS = { include: 'options' }

/** Reads a page of the links of the workspace, with their options. */
export function listLinks(call: CallApi, query: Query): Promise<LinkList> {
  return call.get('/links', { ...WITH_OPTIONS, ...query })
}

/**
 * Reads a link with its options.
 *
 * @param id as a part of a path
 */
export function readLink(call: CallApi, id: string): Promise<CompatLink> {
  return call.get(`/links/${id}`, WITH_OPTIONS)
}

/** Returns the domain on which links are made where a request names none: the usual one of the workspace. */
export async function usualDomain(call: CallApi, baseUrl: string): Promise<string> {
  const { domain } = await call.get<{ domain: string | null }>('/default-domain')
  return domain ?? new URL(baseUrl).hostname
}

/** Returns the address that a URL has; undefined for what is no URL, or one without a key. */
export function addressOf(url: string): LinkAddress | undefined {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined
  const { hostname, pathname } = new URL(url)
  const key = keyOfPath(pathname)
  return key === undefined || key === '' ? undefined : { domain: hostname, key }
}

/** Finds the link at an address, archived or not. */
export async function findLink(
  call: CallApi,
  { domain, key }: LinkAddress,
): Promise<CompatLink | undefined> {
  return key === '' ? undefined : (await listLinks(call, { domain, key })).data[0]
}

/**
 * Finds the oldest link to a destination that leads every visitor there, as links of other services do.
 *
 * @param isFit whether the link is one that the service would find
 */
export async function findPlainLink(
  call: CallApi,
  domain: string,
  url: string,
  isFit: (link: CompatLink) => boolean = () => true,
): Promise<CompatLink | undefined> {
  const query = { domain, url, state: 'active', sort: 'created_at', per_page: 25 }
  const { data } = await listLinks(call, query)
  return data.find((link) => isPlain(link) && isFit(link))
}

function isPlain({ password, ios, android, rule_count, options }: CompatLink): boolean {
  const { rule_set, max_clicks } = options
  const special = [password, ios, android, rule_set, max_clicks]
  return rule_count === 0 && special.every((value) => value === null)
}
