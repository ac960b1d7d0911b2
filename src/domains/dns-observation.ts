import { specialUseOf } from '../hosts/index.ts'
import type { DnsAnswer, DnsResolver } from '../platform/dns/dns-resolver.ts'
import type { Clock } from '../platform/time/clock.ts'
import { proofName } from './proof.ts'

/** The maximum length of a chain of aliases. Resolvers do not follow longer chains either. */
const ALIASES_MAX = 8
/** The time after which no further alias is looked up. */
const FOLLOW_MICROS_MAX = 8_000_000

/** The chain of aliases of a host; each target is the next alias. */
type AliasChain = {
  readonly targets: readonly string[]
  readonly end: 'complete' | 'loop' | 'too_long' | 'unknown'
}

/** The DNS answers from which the proof of a host is judged. */
export type DnsObservation = {
  readonly texts: DnsAnswer<string>
  /** An alias at the name of the proof, which would let the alias's target answer for the owner. */
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
    // The names behind it are not public; this service's resolver must not reveal them.
    if (specialUseOf(next) !== undefined) return { targets, end: 'complete' }
    if (targets.length >= ALIASES_MAX) return { targets, end: 'too_long' }
    if (clock.nowMicros() - startedAt > FOLLOW_MICROS_MAX) return { targets, end: 'unknown' }
  }
}
