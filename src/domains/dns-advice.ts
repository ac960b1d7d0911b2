import { formatHost } from '../hosts/index.ts'
import type { DnsFailureReason } from '../platform/dns/dns-resolver.ts'
import type { Ownership, Routing } from './dns-judgement.ts'
import { type DnsRecord, proofName } from './dns-records.ts'

/** A difference between the required DNS records and those found, with what to do in one sentence. */
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

const FAILURES: Readonly<Record<DnsFailureReason, string>> = {
  timeout: 'did not answer in time',
  server_failure: 'returned a failure',
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
          text: `${name} is an alias (CNAME) of ${ownership.target}, perhaps because of a wildcard record, and an alias does not prove ownership: replace it by ${set}.`,
        },
      ]
    case 'unknown':
      return [
        {
          code: 'txt_unknown',
          text: `The TXT record could not be looked up, because the DNS server ${FAILURES[ownership.reason]}; the look-up is repeated, and the status stays the same until then.`,
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
      return routing.otherAddresses.map((address) => ({
        code: 'stray_address',
        text: `Some visitors of ${name} are sent to ${address}, which is not this service: remove the ${typeOf(address)} record with this address.`,
      }))
    case 'no_name':
      return one('host_missing', `${name} does not exist in DNS yet: add ${add}.`)
    case 'no_address':
      return one(
        'host_without_address',
        `${name} has no address (a wildcard record does not apply to a name that has other records, or records below it): add ${add}.`,
      )
    case 'dangling':
      return one(
        'host_dangling',
        records.some(({ type, value }) => type === 'CNAME' && value === routing.target)
          ? `${name} leads to ${routing.target}, as it should, but that name has no address: the operator of this service must add an A or AAAA record to it.`
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
        `${name} leads through too many aliases (CNAME): replace it by ${add}.`,
      )
    case 'proxied':
      return one(
        'host_proxied',
        `${name} is behind ${routing.proxy}, so DNS does not show whether it leads to this service: switch the proxy off for this name ("DNS only"), and set ${add}.`,
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
        `The addresses of ${name} could not be looked up, because the DNS server ${FAILURES[routing.reason]}; the look-up is repeated, and the status stays the same until then.`,
      )
  }
}

/** Advice for a proved host that is active in another workspace, whose TXT record still exists. */
export function activeElsewhere(host: string): DnsDifference {
  return {
    code: 'active_elsewhere',
    text: `${formatHost(host)} is in use by another workspace, whose TXT record at ${proofName(host)} still exists: remove that record to move the domain to this workspace.`,
  }
}

function serviceUnknown(reason: DnsFailureReason | 'none'): string {
  const operator =
    'the operator must set TERSE_BASE_URL, TERSE_DNS_TARGET or TERSE_PUBLIC_ADDRESSES'
  return reason === 'none'
    ? `This service does not know its own public address, so it cannot determine whether a domain leads to it: ${operator}.`
    : `The addresses of this service itself could not be looked up, because the DNS server ${FAILURES[reason]}; the look-up is repeated, and the status stays the same until then.`
}

function recordsInWords(records: readonly DnsRecord[]): string {
  const routing = records.filter(({ purpose }) => purpose === 'routing')
  if (routing.length === 0) return 'a record that leads to this service'
  const words = routing.map(({ type, name, value }) => `${type} ${name} → ${value}`)
  return words.length === 1 ? `the record ${words[0]}` : `the records ${words.join(', ')}`
}

/** @param address an address, or the words that `shownRouting` puts in place of a private one */
function typeOf(address: string): string {
  return /:|IPv6/.test(address) ? 'AAAA' : 'A'
}
