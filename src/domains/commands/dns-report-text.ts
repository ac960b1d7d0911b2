import { formatHost } from '../../hosts/index.ts'
import { formatTable } from '../../platform/cli/terminal.ts'
import { formatInstant } from '../../platform/time/instant.ts'
import type { DnsReport } from '../dns-report.ts'
import type { CertificateStanding } from '../host-certificate.ts'

/** What DNS should say of a domain, what it says, and what to do. */
export function dnsReportText(report: DnsReport): string {
  const { domain, records, differences, nextCheckAt, certificate } = report
  const lines = [`${formatHost(domain.host)} is ${domain.status}.`]
  if (domain.status === 'pending' && records.length > 0) {
    lines.push(
      '',
      'Set these records where the DNS of the domain is kept:',
      '',
      recordTable(report),
    )
  }
  if (differences.length > 0) lines.push('', ...differences.map(({ text }) => `- ${text}`))
  if (domain.status === 'pending' && nextCheckAt !== null) {
    lines.push('', `A running service checks it next at ${formatInstant(nextCheckAt)}.`)
  }
  if (certificate !== null) lines.push('', certificateText(certificate))
  return lines.join('\n')
}

/** How a certificate stands, in sentences. */
function certificateText({ life, problem, nextAttemptAt }: CertificateStanding): string {
  const use =
    life === null
      ? 'It has no certificate for HTTPS yet.'
      : `Its certificate for HTTPS counts until ${formatInstant(life.notAfter)}.`
  const trouble = problem === null ? [] : [`The next one could not be had: ${problem}.`]
  const again =
    nextAttemptAt === null
      ? []
      : [`A running service asks for one at ${formatInstant(nextAttemptAt)}.`]
  return [use, ...trouble, ...again].join(' ')
}

function recordTable({ records }: DnsReport): string {
  return formatTable(
    ['TYPE', 'NAME', 'VALUE'],
    records.map(({ type, name, value }) => [type, name, value]),
  )
}
