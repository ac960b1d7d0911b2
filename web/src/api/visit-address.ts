import type { LinkResource } from '@terse/contract/links'
import { visitAddress as addressAt, type ServiceAddress } from '@terse/contract/visit-address'

/** The address at which a link opens; the dashboard is open at that of the service. */
export function visitAddress(
  link: Pick<LinkResource, 'domain' | 'link'>,
  service: ServiceAddress = location,
): string {
  return addressAt(link, service)
}
