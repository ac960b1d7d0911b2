import { parseHost, type ServiceName } from '../hosts/index.ts'
import type { Parsed } from '../platform/failure.ts'

/** A host that links may be on: one that a workspace may claim, or the service's own. */
export function parseLinkHost(text: string, service: ServiceName): Parsed<string> {
  const isService = text.toLowerCase().replace(/\.$/, '') === service.host
  return isService ? { value: service.host } : parseHost(text)
}
