import {
  adviseOnRouting,
  type DnsObservation,
  judgeRouting,
  recordsFor,
  type ServiceAddresses,
  type ServiceTarget,
} from '../../domains/index.ts'
import { findProxy, formatHost } from '../../hosts/index.ts'
import { valuesOf } from '../../platform/dns/dns-resolver.ts'
import type { Finding } from './finding.ts'

/** Reports where a host leads, with a further finding for addresses that are not this service's. */
export function routingFindings(
  host: string,
  observation: DnsObservation,
  addresses: ServiceAddresses,
  target: ServiceTarget,
): Finding[] {
  const subject = 'routing'
  const routing = judgeRouting(observation, addresses)
  const records = recordsFor(host, undefined, target, addresses)
  const advice = adviseOnRouting(host, routing, records).map((difference) => difference.text)
  const seen = [
    ...observation.aliases.targets,
    ...valuesOf(observation.ipv4),
    ...valuesOf(observation.ipv6),
  ]
  const name = formatHost(host)
  const path = seen.length === 0 ? `${name} leads nowhere` : `${name} → ${seen.join(' → ')}`
  if (routing.state === 'routed') {
    const found: Finding = { subject, state: 'ok', text: path }
    const strays = advice.map(
      (text): Finding => ({
        subject: 'address',
        state: 'problem',
        text: 'one of its addresses does not belong to this service',
        advice: text,
      }),
    )
    return [found, ...strays]
  }
  const isUnknown = routing.state === 'unknown' || routing.state === 'service_unknown'
  const state = isUnknown ? 'warning' : 'problem'
  return [{ subject, state, text: path, ...(advice[0] !== undefined && { advice: advice[0] }) }]
}

export function proxyFinding(observation: DnsObservation): Finding {
  const subject = 'proxy'
  const addresses = [...valuesOf(observation.ipv4), ...valuesOf(observation.ipv6)]
  const proxy = findProxy(addresses, observation.aliases.targets)
  if (proxy === undefined) return { subject, state: 'ok', text: 'no known proxy is in front' }
  return {
    subject,
    state: 'warning',
    text: `${proxy} is in front`,
    advice: 'It hides whether the name leads here: disable it for this name ("DNS only").',
  }
}
