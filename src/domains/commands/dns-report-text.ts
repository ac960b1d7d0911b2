import { formatHost } from '../../hosts/index.ts'
import { formatTable } from '../../platform/cli/terminal.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import type { DnsReport } from '../dns-report.ts'
import type { CertificateStanding } from '../host-certificate.ts'

/** Formats a report for a terminal: the records to set, the differences and what to do. */
export function dnsReportText(report: DnsReport): string {
  const { domain, records, differences, nextCheckAt, certificate } = report
  const lines = [`${formatHost(domain.host)} is ${domain.status}.`]
  if (domain.status === 'pending' && records.length > 0) {
    lines.push('', 'Set these records at the DNS provider of the domain:', '', recordTable(report))
  }
  if (differences.length > 0) lines.push('', ...differences.map(({ text }) => `- ${text}`))
  if (domain.status === 'pending' && nextCheckAt !== null) {
    lines.push('', `The next check by a running service is at ${formatInstant(nextCheckAt)}.`)
  }
  if (certificate !== null) lines.push('', certificateText(certificate))
  return lines.join('\n')
}

/** Formats the state of a certificate as sentences. */
function certificateText({ life, problem, nextAttemptAt }: CertificateStanding): string {
  const use =
    life === null
      ? 'It has no certificate for HTTPS yet.'
      : `Its certificate for HTTPS is valid until ${formatInstant(life.notAfter)}.`
  const failure = problem === null ? [] : [`The certificate cannot be obtained: ${problem}.`]
  const retry =
    nextAttemptAt === null ? [] : [`The next attempt is at ${formatInstant(nextAttemptAt)}.`]
  return [use, ...failure, ...retry].join(' ')
}

function recordTable({ records }: DnsReport): string {
  return formatTable(
    ['TYPE', 'NAME', 'VALUE'],
    records.map(({ type, name, value }) => [type, name, value]),
  )
}
