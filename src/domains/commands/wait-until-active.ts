import { setTimeout as sleep } from 'node:timers/promises'
import { commandLine } from '../../identity/index.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'
import { Failure } from '../../platform/failure.ts'
import type { DnsReport } from '../dns-report.ts'
import type { Domain } from '../domain.ts'
import type { DomainChecks } from '../domain-checks.ts'
import { dnsReportText } from './dns-report-text.ts'

const LOOK_INTERVAL_MS = 5_000
const TICK_MS = 1_000

/**
 * Looks at DNS until the domain is active, or for `forMs`. Tells each change once, and each second,
 * where somebody watches, that it still waits.
 */
export async function waitUntilActive(
  terminal: Terminal,
  checks: DomainChecks,
  domain: Domain,
  forMs: number,
): Promise<DnsReport> {
  const startedAtMs = performance.now()
  const elapsedMs = () => performance.now() - startedAtMs
  let told = ''
  for (;;) {
    terminal.status(`${formatElapsed(elapsedMs())}  asking DNS …`)
    const report = await checkWhenProved(checks, domain)
    const text = dnsReportText(report)
    if (text !== told) {
      terminal.status('')
      terminal.err(`${told === '' ? '' : '\n'}${text}`)
      told = text
    }
    if (report.domain.status === 'active' || elapsedMs() >= forMs) {
      terminal.status('')
      return report
    }
    const nextMs = performance.now() + LOOK_INTERVAL_MS
    while (performance.now() < nextMs) {
      const leftSeconds = Math.ceil((nextMs - performance.now()) / 1_000)
      terminal.status(`${formatElapsed(elapsedMs())}  waiting, next look in ${leftSeconds} s`)
      await sleep(TICK_MS)
    }
  }
}

/** A look changes nothing and may be had at any time; the check, once a minute, when it will help. */
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
