import type { LinkResource } from '@terse/contract/links'

/**
 * The address at which a link can be visited. The `link` of the API always begins with `https://`. When the
 * dashboard is open over plain HTTP, as after `npm start`, its own host and names below `localhost` have no HTTPS: their
 * links are visited over HTTP, at the port of the dashboard.
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
