import type { DnsReportResource, ShownDomain } from '../../api/domains.ts'

type DnsRecord = DnsReportResource['records'][number]
export type DifferenceCode = DnsReportResource['differences'][number]['code']
/** `alternative`: another record of the same purpose is enough. */
export type RecordState = 'found' | 'missing' | 'wrong' | 'unknown' | 'alternative'

const STATES: Readonly<Record<DifferenceCode, RecordState>> = {
  txt_missing: 'missing',
  txt_different: 'wrong',
  txt_aliased: 'wrong',
  txt_unknown: 'unknown',
  host_missing: 'missing',
  host_without_address: 'missing',
  host_dangling: 'wrong',
  host_looping: 'wrong',
  host_too_many_aliases: 'wrong',
  host_proxied: 'wrong',
  host_elsewhere: 'wrong',
  host_unknown: 'unknown',
  stray_address: 'found',
  service_unknown: 'unknown',
  active_elsewhere: 'found',
}

/** The differences that concern a purpose; each code once. */
export function differencesOf(
  report: DnsReportResource,
  purpose: DnsRecord['purpose'] | 'other',
): readonly DifferenceCode[] {
  const codes = report.differences.map(({ code }) => code)
  return [...new Set(codes.filter((code) => purposeOf(code) === purpose))]
}

function purposeOf(code: DifferenceCode): DnsRecord['purpose'] | 'other' {
  if (code === 'active_elsewhere') return 'other'
  return code.startsWith('txt_') ? 'ownership' : 'routing'
}

/** Whether everything of a purpose was found; also where nothing is required. */
export function stateOf(report: DnsReportResource, purpose: DnsRecord['purpose']): RecordState {
  const states = differencesOf(report, purpose).map((code) => STATES[code])
  return states.find((state) => state !== 'found') ?? 'found'
}

/** The state of one record. Of several address records one is enough. */
export function recordStateOf(report: DnsReportResource, record: DnsRecord): RecordState {
  const state = stateOf(report, record.purpose)
  const same = report.records.filter(({ purpose }) => purpose === record.purpose)
  if (same.length < 2) return state
  const { a, aaaa } = report.seen
  if (state === 'found') return [...a, ...aaaa].includes(record.value) ? 'found' : 'alternative'
  return record === same[0] ? state : 'alternative'
}

/** Where the host leads, as DNS answered. */
export function foundTextOf({ seen }: DnsReportResource): string {
  const addresses = [...seen.a, ...seen.aaaa]
  return addresses.length > 0 ? addresses.slice(0, 4).join(', ') : (seen.cname.at(-1) ?? '')
}

export type Standing = 'active' | 'pending' | 'missing' | 'elsewhere'

/** @param report undefined until it is loaded: then what the last check found is shown */
export function standingOf(
  { status, dns }: Pick<ShownDomain, 'status' | 'dns'>,
  report: DnsReportResource | undefined,
): Standing {
  if (report === undefined) {
    if (status === 'active') return dns.missing_since === null ? 'active' : 'missing'
    return dns.is_active_elsewhere ? 'elsewhere' : 'pending'
  }
  if (report.status === 'active') {
    return report.missing_since !== null || report.verdict === 'unproved' ? 'missing' : 'active'
  }
  return differencesOf(report, 'other').length > 0 ? 'elsewhere' : 'pending'
}
