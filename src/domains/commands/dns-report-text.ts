import { setTimeout as sleep } from 'node:timers/promises'
import { formatHost } from '../../hosts/index.ts'
import { commandLine } from '../../identity/index.ts'
import { formatTable, type Terminal } from '../../platform/cli/terminal.ts'
import { Failure } from '../../platform/failure.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import type { DnsReport } from '../dns-lookup.ts'
import type { CertificateStanding, Domain } from '../domain.ts'
import type { DomainChecks } from '../domain-checks.ts'

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

const LOOKUP_INTERVAL_MS = 5_000
const TICK_MS = 1_000

/**
 * Looks the domain up in DNS until it is active, at most for `forMs`. Prints each change once, and on a
 * terminal the waiting time every second.
 */
export async function waitUntilActive(
  terminal: Terminal,
  checks: DomainChecks,
  domain: Domain,
  forMs: number,
): Promise<DnsReport> {
  const startedAtMs = performance.now()
  const elapsedMs = () => performance.now() - startedAtMs
  let printed = ''
  for (;;) {
    terminal.status(`${formatElapsed(elapsedMs())}  looking up DNS …`)
    const report = await checkWhenProved(checks, domain)
    const text = dnsReportText(report)
    if (text !== printed) {
      terminal.status('')
      terminal.err(`${printed === '' ? '' : '\n'}${text}`)
      printed = text
    }
    if (report.domain.status === 'active' || elapsedMs() >= forMs) {
      terminal.status('')
      return report
    }
    const nextMs = performance.now() + LOOKUP_INTERVAL_MS
    while (performance.now() < nextMs) {
      const leftSeconds = Math.ceil((nextMs - performance.now()) / 1_000)
      terminal.status(`${formatElapsed(elapsedMs())}  waiting, next look-up in ${leftSeconds} s`)
      await sleep(TICK_MS)
    }
  }
}

/** Looks up first, which is not limited; requests a check, limited to one a minute, only when it will succeed. */
async function checkWhenProved(checks: DomainChecks, domain: Domain): Promise<DnsReport> {
  const report = await checks.report(commandLine(domain.workspace_id), domain.id)
  if (report.domain.status === 'active' || report.verdict !== 'proved') return report
  try {
    return await checks.verify(commandLine(domain.workspace_id), domain.id)
  } catch (error) {
    if (error instanceof Failure && error.code === 'rate_limited') return report
    throw error
  }
}

function formatElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
