import { parseHost, type ServiceName } from '../hosts/index.ts'
import type { Parsed } from '../platform/failure.ts'

/** Parses a host that links may have: one that a workspace may add, or the service's own host. */
export function parseLinkHost(text: string, service: ServiceName): Parsed<string> {
  const isService = text.toLowerCase().replace(/\.$/, '') === service.host
  return isService ? { value: service.host } : parseHost(text)
}
