import type { LinkResource } from '@terse/contract/links'

/**
 * The address at which a link can be visited. Links begin with `https://`. Where the dashboard itself is open over plain
 * HTTP, as after `npm start`, nothing answers that for its host and for names below `localhost`: they are served where
 * the dashboard is.
 */
export function visitAddress(
  { domain, link }: Pick<LinkResource, 'domain' | 'link'>,
  { protocol, hostname, port }: Pick<Location, 'protocol' | 'hostname' | 'port'> = location,
): string {
  const isServedHere =
    domain === hostname || domain === 'localhost' || domain.endsWith('.localhost')
  if (protocol !== 'http:' || !isServedHere) return link
  const origin = port === '' ? domain : `${domain}:${port}`
  return `http://${origin}${link.slice(`https://${domain}`.length)}`
}
