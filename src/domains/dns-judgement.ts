import { findProxy, specialUseOf } from '../hosts/index.ts'
import {
  type DnsAnswer,
  type DnsFailureReason,
  type DnsResolver,
  valuesOf,
} from '../platform/dns/dns-resolver.ts'
import type { Clock } from '../platform/time/clock.ts'
import {
  isProofText,
  isSameProof,
  type ProofPolicy,
  proofName,
  type ServiceAddresses,
} from './dns-records.ts'

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

/** `unknown`: DNS did not answer, so the status of the domain does not change. */
export type Verdict = 'proved' | 'unproved' | 'unknown'

/** Whether the owner of a host has set the workspace's proof. */
export type Ownership =
  | { readonly state: 'proved' }
  | { readonly state: 'missing' }
  /** There is a proof, but for another workspace or host. */
  | { readonly state: 'different' }
  /** The name of the proof is an alias, often by a wildcard: the text is that of the alias's target. */
  | { readonly state: 'aliased'; readonly target: string }
  | { readonly state: 'unknown'; readonly reason: DnsFailureReason }

/** Whether a host leads to this service. */
export type Routing =
  /** `otherAddresses` are addresses that are not the service's; some visitors are sent there. */
  | { readonly state: 'routed'; readonly otherAddresses: readonly string[] }
  | { readonly state: 'no_name' }
  | { readonly state: 'no_address' }
  | { readonly state: 'dangling'; readonly target: string }
  | { readonly state: 'loop' }
  | { readonly state: 'too_many_aliases' }
  | { readonly state: 'proxied'; readonly proxy: string }
  | { readonly state: 'elsewhere'; readonly addresses: readonly string[] }
  | { readonly state: 'service_unknown'; readonly reason: DnsFailureReason | 'none' }
  | { readonly state: 'unknown'; readonly reason: DnsFailureReason }

export function judgeOwnership(seen: DnsObservation, expected: string): Ownership {
  const [target] = valuesOf(seen.textAlias)
  if (target !== undefined) return { state: 'aliased', target }
  if (seen.texts.kind === 'unknown') return { state: 'unknown', reason: seen.texts.reason }
  const texts = valuesOf(seen.texts)
  if (texts.some((text) => isSameProof(text, expected))) {
    return seen.textAlias.kind === 'unknown'
      ? { state: 'unknown', reason: seen.textAlias.reason }
      : { state: 'proved' }
  }
  return { state: texts.some(isProofText) ? 'different' : 'missing' }
}

export function judgeRouting(seen: DnsObservation, service: ServiceAddresses): Routing {
  const addresses = [...valuesOf(seen.ipv4), ...valuesOf(seen.ipv6)]
  if (service.kind === 'unknown') return { state: 'service_unknown', reason: service.reason }
  const otherAddresses = addresses.filter((address) => !service.networks.has(address))
  if (otherAddresses.length < addresses.length) return { state: 'routed', otherAddresses }

  const special = seen.aliases.targets.find((target) => specialUseOf(target) !== undefined)
  if (special !== undefined) return { state: 'dangling', target: special }
  // Resolvers return a failure for a loop, so loops are checked before failures.
  if (seen.aliases.end === 'loop') return { state: 'loop' }
  if (seen.aliases.end === 'too_long') return { state: 'too_many_aliases' }
  for (const answer of [seen.ipv4, seen.ipv6]) {
    if (answer.kind === 'unknown') return { state: 'unknown', reason: answer.reason }
  }
  if (addresses.length > 0) {
    const proxy = findProxy(addresses, seen.aliases.targets)
    return proxy === undefined ? { state: 'elsewhere', addresses } : { state: 'proxied', proxy }
  }
  const target = seen.aliases.targets.at(-1)
  if (target !== undefined) return { state: 'dangling', target }
  const nameExists = [seen.ipv4, seen.ipv6].some(
    (answer) => answer.kind === 'none' && answer.nameExists,
  )
  return { state: nameExists ? 'no_address' : 'no_name' }
}

/** Combines both results under a policy. `unproved` takes precedence over `unknown`. */
export function verdictOf(policy: ProofPolicy, ownership: Ownership, routing: Routing): Verdict {
  const verdicts = [verdictOfRouting(routing)]
  if (policy === 'dns') verdicts.push(verdictOfOwnership(ownership))
  if (verdicts.includes('unproved')) return 'unproved'
  return verdicts.includes('unknown') ? 'unknown' : 'proved'
}

function verdictOfOwnership({ state }: Ownership): Verdict {
  return state === 'proved' || state === 'unknown' ? state : 'unproved'
}

function verdictOfRouting({ state }: Routing): Verdict {
  if (state === 'routed') return 'proved'
  return state === 'unknown' || state === 'service_unknown' ? 'unknown' : 'unproved'
}
