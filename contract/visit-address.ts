/** The parts of a service's address, as in a `URL` or a browser's `location`. */
export type ServiceAddress = {
  readonly protocol: string
  readonly hostname: string
  readonly port: string
}

/**
 * Returns the address at which a link opens. The `link` of the API always begins with `https://` and has no port. Links
 * on the service's own host open where the service does, and over plain HTTP so do names below `localhost`, which have no
 * HTTPS.
 */
export function visitAddress(
  { domain, link }: { readonly domain: string; readonly link: string },
  { protocol, hostname, port }: ServiceAddress,
): string {
  const isLocal = domain === 'localhost' || domain.endsWith('.localhost')
  if (domain !== hostname && !(protocol === 'http:' && isLocal)) return link
  const host = port === '' ? domain : `${domain}:${port}`
  return `${protocol}//${host}${link.slice(`https://${domain}`.length)}`
}
