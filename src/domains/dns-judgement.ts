import { findProxy, specialUseOf } from '../hosts/index.ts'
import { type DnsFailureReason, valuesOf } from '../platform/dns/dns-resolver.ts'
import type { DnsObservation } from './dns-observation.ts'
import { isProofText, isSameProof, type ProofPolicy } from './proof.ts'
import type { ServiceAddresses } from './service-target.ts'

/** `unknown` says nothing against a domain, and nothing for it. */
export type Verdict = 'proved' | 'unproved' | 'unknown'

/** Whether the owner of a host has set the workspace's proof. */
export type Ownership =
  | { readonly state: 'proved' }
  | { readonly state: 'missing' }
  /** There is a proof, but of another workspace or host. */
  | { readonly state: 'different' }
  /** The name of the proof is an alias, often by a wildcard: its target speaks, not the owner. */
  | { readonly state: 'aliased'; readonly target: string }
  | { readonly state: 'unknown'; readonly reason: DnsFailureReason }

/** Whether a host leads to this service. */
export type Routing =
  /** `strangers` are addresses beside the service's own, at which some visitors end. */
  | { readonly state: 'routed'; readonly strangers: readonly string[] }
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
  const strangers = addresses.filter((address) => !service.networks.has(address))
  if (strangers.length < addresses.length) return { state: 'routed', strangers }

  const special = seen.aliases.targets.find((target) => specialUseOf(target) !== undefined)
  if (special !== undefined) return { state: 'dangling', target: special }
  // Resolvers fail on a loop, so this is looked at before their failures are.
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

/** What both together mean under a policy. What is known to be wrong outweighs what is not known. */
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
