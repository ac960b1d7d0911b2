import { formatHost } from '../hosts/index.ts'
import type { DnsFailureReason } from '../platform/dns/dns-resolver.ts'
import type { Ownership, Routing } from './dns-judgement.ts'
import type { DnsRecord } from './dns-records.ts'
import { proofName } from './proof.ts'

/** What is not as it should be, and what to do about it, in one sentence. */
export type DnsDifference = {
  readonly code: DnsDifferenceCode
  readonly text: string
}

type DnsDifferenceCode =
  | 'txt_missing'
  | 'txt_different'
  | 'txt_aliased'
  | 'txt_unknown'
  | 'host_missing'
  | 'host_without_address'
  | 'host_dangling'
  | 'host_looping'
  | 'host_too_many_aliases'
  | 'host_proxied'
  | 'host_elsewhere'
  | 'host_unknown'
  | 'stray_address'
  | 'service_unknown'
  | 'active_elsewhere'

const SILENCE: Readonly<Record<DnsFailureReason, string>> = {
  timeout: 'did not answer in time',
  server_failure: 'answered with a failure',
  unreachable: 'could not be reached',
}

export function adviseOnOwnership(
  host: string,
  ownership: Ownership,
  records: readonly DnsRecord[],
): readonly DnsDifference[] {
  const name = proofName(host)
  const record = records.find(({ purpose }) => purpose === 'ownership')
  const set = `a TXT record named ${record?.name ?? name} with the value ${record?.value ?? ''}`
  switch (ownership.state) {
    case 'proved':
      return []
    case 'missing':
      return [{ code: 'txt_missing', text: `Add ${set}.` }]
    case 'different':
      return [
        {
          code: 'txt_different',
          text: `The TXT record at ${name} is for another workspace or another domain: add ${set}.`,
        },
      ]
    case 'aliased':
      return [
        {
          code: 'txt_aliased',
          text: `${name} is an alias (CNAME) of ${ownership.target}, perhaps by a wildcard record, and an alias proves nothing: add ${set}, which takes its place.`,
        },
      ]
    case 'unknown':
      return [
        {
          code: 'txt_unknown',
          text: `Whether the TXT record is there could not be seen, because the DNS server ${SILENCE[ownership.reason]}; this is tried again and changes nothing.`,
        },
      ]
  }
}

export function adviseOnRouting(
  host: string,
  routing: Routing,
  records: readonly DnsRecord[],
): readonly DnsDifference[] {
  const one = (code: DnsDifferenceCode, text: string) => [{ code, text }]
  const add = recordsInWords(records)
  const name = formatHost(host)
  switch (routing.state) {
    case 'routed':
      return routing.strangers.map((address) => ({
        code: 'stray_address',
        text: `Some visitors of ${name} end at ${address}, which is not this service: remove the ${typeOf(address)} record with that address.`,
      }))
    case 'no_name':
      return one('host_missing', `${name} does not exist in DNS yet: add ${add}.`)
    case 'no_address':
      return one(
        'host_without_address',
        `${name} has no address of its own (a wildcard record does not reach a name that has other records, or records below it): add ${add}.`,
      )
    case 'dangling':
      return one(
        'host_dangling',
        records.some(({ type, value }) => type === 'CNAME' && value === routing.target)
          ? `${name} leads to ${routing.target}, as it should, but that name has no address: the operator of this service adds an A or AAAA record to it.`
          : `${name} is an alias (CNAME) that ends at ${routing.target}, which has no address: replace it by ${add}.`,
      )
    case 'loop':
      return one(
        'host_looping',
        `${name} is an alias (CNAME) that leads back to itself: replace it by ${add}.`,
      )
    case 'too_many_aliases':
      return one(
        'host_too_many_aliases',
        `${name} is at the head of a chain of too many aliases (CNAME): replace it by ${add}.`,
      )
    case 'proxied':
      return one(
        'host_proxied',
        `${name} is behind ${routing.proxy}, so DNS does not show whether it leads here: switch the proxy off for this name ("DNS only"), and set ${add}.`,
      )
    case 'elsewhere':
      return one(
        'host_elsewhere',
        `${name} leads to ${routing.addresses.slice(0, 4).join(', ')}, which is not this service: replace the record by ${add}.`,
      )
    case 'service_unknown':
      return one('service_unknown', serviceUnknown(routing.reason))
    case 'unknown':
      return one(
        'host_unknown',
        `Where ${name} leads could not be seen, because the DNS server ${SILENCE[routing.reason]}; this is tried again and changes nothing.`,
      )
  }
}

/** For a host that is proved, and active in another workspace whose proof is still there. */
export function activeElsewhere(host: string): DnsDifference {
  return {
    code: 'active_elsewhere',
    text: `${formatHost(host)} is in use by another workspace, whose own TXT record at ${proofName(host)} is still there: remove that one if the domain is to move here.`,
  }
}

function serviceUnknown(reason: DnsFailureReason | 'none'): string {
  const operator = 'the operator sets TERSE_BASE_URL, TERSE_DNS_TARGET or TERSE_PUBLIC_ADDRESSES'
  return reason === 'none'
    ? `This service does not know its own public address, so nothing can be seen to lead here: ${operator}.`
    : `The addresses of this service itself could not be seen, because the DNS server ${SILENCE[reason]}; this is tried again and changes nothing.`
}

function recordsInWords(records: readonly DnsRecord[]): string {
  const routing = records.filter(({ purpose }) => purpose === 'routing')
  if (routing.length === 0) return 'a record that leads to this service'
  const words = routing.map(({ type, name, value }) => `${type} ${name} → ${value}`)
  return words.length === 1 ? `the record ${words[0]}` : `the records ${words.join(', ')}`
}

/** @param address or words that stand for one (shown-dns.ts) */
function typeOf(address: string): string {
  return /:|IPv6/.test(address) ? 'AAAA' : 'A'
}
