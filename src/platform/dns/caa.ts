import type { CaaProperty, DnsFailureReason, DnsResolver } from './dns-resolver.ts'

/** The known properties (RFC 8659). An unknown property that is critical forbids issuance. */
const KNOWN_TAGS = new Set([
  'issue',
  'issuewild',
  'issuemail',
  'issuevmc',
  'iodef',
  'contactemail',
  'contactphone',
])

/** Whether DNS allows a certificate authority to issue for a host (RFC 8659). */
export type CaaPermission =
  | { readonly state: 'allowed' }
  | { readonly state: 'forbidden'; readonly at: string; readonly allowed: readonly string[] }
  | { readonly state: 'unknown'; readonly reason: DnsFailureReason }

/**
 * Finds the CAA record set that is closest to a host, from the host itself up to the top-level domain,
 * and decides by it.
 *
 * @param authorities the names of one certificate authority; permission for any of them is enough
 */
export async function findCaaPermission(
  resolver: Pick<DnsResolver, 'caa'>,
  host: string,
  authorities: readonly string[],
): Promise<CaaPermission> {
  const labels = host.split('.')
  for (let first = 0; first < labels.length; first += 1) {
    const name = labels.slice(first).join('.')
    const answer = await resolver.caa(name)
    if (answer.kind === 'unknown') return { state: 'unknown', reason: answer.reason }
    if (answer.kind === 'found') return decideCaa(answer.values, name, authorities)
  }
  return { state: 'allowed' }
}

function decideCaa(
  properties: readonly CaaProperty[],
  at: string,
  authorities: readonly string[],
): CaaPermission {
  const issuers = properties
    .filter(({ tag }) => tag.toLowerCase() === 'issue')
    .map(({ value }) => value.split(';')[0]?.trim().toLowerCase() ?? '')
  const isUnderstood = properties.every(
    ({ tag, isCritical }) => !isCritical || KNOWN_TAGS.has(tag.toLowerCase()),
  )
  if (
    isUnderstood &&
    (issuers.length === 0 || issuers.some((issuer) => authorities.includes(issuer)))
  )
    return { state: 'allowed' }
  return { state: 'forbidden', at, allowed: issuers.filter((issuer) => issuer !== '') }
}
