import { specialUseOf } from '../hosts/index.ts'
import type { DnsAnswer, DnsResolver } from '../platform/dns/dns-resolver.ts'
import type { Clock } from '../platform/time/clock.ts'
import { proofName } from './proof.ts'

/** More aliases in a row than resolvers themselves follow are a fault, not a route. */
const ALIASES_MAX = 8
/** After this long no further alias is looked up; what is known then must do. */
const FOLLOW_MICROS_MAX = 8_000_000

/** The aliases from a host on, each the target of the one before it. */
type AliasChain = {
  readonly targets: readonly string[]
  readonly end: 'complete' | 'loop' | 'too_long' | 'unknown'
}

/** What DNS says of a host, as far as its proof is concerned. */
export type DnsObservation = {
  readonly texts: DnsAnswer<string>
  /** An alias at the name of the proof itself, by which others could speak for the owner. */
  readonly textAlias: DnsAnswer<string>
  readonly aliases: AliasChain
  readonly ipv4: DnsAnswer<string>
  readonly ipv6: DnsAnswer<string>
}

export async function observeDns(
  resolver: DnsResolver,
  host: string,
  clock: Clock,
): Promise<DnsObservation> {
  const [texts, textAlias, aliases, ipv4, ipv6] = await Promise.all([
    resolver.txt(proofName(host)),
    resolver.cname(proofName(host)),
    followAliases(resolver, host, clock),
    resolver.ipv4(host),
    resolver.ipv6(host),
  ])
  return { texts, textAlias, aliases, ipv4, ipv6 }
}

async function followAliases(
  resolver: DnsResolver,
  host: string,
  clock: Clock,
): Promise<AliasChain> {
  const startedAt = clock.nowMicros()
  const targets: string[] = []
  for (;;) {
    const answer = await resolver.cname(targets.at(-1) ?? host)
    if (answer.kind === 'unknown') return { targets, end: 'unknown' }
    const next = answer.kind === 'found' ? answer.values[0]?.toLowerCase() : undefined
    if (next === undefined) return { targets, end: 'complete' }
    const isLoop = next === host || targets.includes(next)
    targets.push(next)
    if (isLoop) return { targets, end: 'loop' }
    // What lies behind is no part of public DNS, and must not be learned from this one's.
    if (specialUseOf(next) !== undefined) return { targets, end: 'complete' }
    if (targets.length >= ALIASES_MAX) return { targets, end: 'too_long' }
    if (clock.nowMicros() - startedAt > FOLLOW_MICROS_MAX) return { targets, end: 'unknown' }
  }
}
