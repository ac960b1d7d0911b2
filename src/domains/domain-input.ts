import { parseDestination, parseHost, type ServiceName } from '../hosts/index.ts'
import { FaultList } from '../platform/failure.ts'

/** The body of a create or an update: an omitted field stays unchanged, null clears it. */
export type DomainInput = {
  readonly domain?: string | undefined
  readonly not_found_url?: string | null | undefined
  readonly expired_url?: string | null | undefined
}

/** The changes of an input, in their stored form. */
export type DomainChanges = {
  readonly host?: string
  readonly not_found_url?: string | null
  readonly expired_url?: string | null
}

/** @throws {Failure} `validation_failed` naming every field that is wrong */
export function parseDomainInput(input: DomainInput, service: ServiceName): DomainChanges {
  const faults = new FaultList()
  const host =
    input.domain === undefined ? undefined : faults.take('domain', parseHost(input.domain))
  if (host === service.host) faults.add('domain', { code: 'reserved', reason: 'shared' })
  const changes = {
    ...(host !== undefined && { host }),
    ...parseFallback('not_found_url', input.not_found_url, faults),
    ...parseFallback('expired_url', input.expired_url, faults),
  }
  faults.throwIfAny()
  return changes
}

function parseFallback<F extends 'not_found_url' | 'expired_url'>(
  field: F,
  text: string | null | undefined,
  faults: FaultList,
): { [K in F]?: string | null } {
  if (text === undefined) return {}
  if (text === null) return { [field]: null } as { [K in F]: null }
  const url = faults.take(field, parseDestination(text))
  return url === undefined ? {} : ({ [field]: url } as { [K in F]: string })
}
