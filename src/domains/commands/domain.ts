import { Command, InvalidArgumentError } from 'commander'
import { displayHost, formatHost } from '../../hosts/index.ts'
import { commandLine } from '../../identity/index.ts'
import { example, type RunWith } from '../../platform/cli/options.ts'
import { formatTable, plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import { pendingFrom } from '../check-schedule.ts'
import type { DnsReport } from '../dns-report.ts'
import type { CertificateStanding } from '../host-certificate.ts'
import { dnsReportText } from './dns-report-text.ts'
import { defaultCommand } from './domain-default.ts'
import { hstsCommand } from './domain-hsts.ts'
import { removeCommand } from './domain-remove.ts'
import type { DomainTools } from './domain-tools.ts'
import { findClaim } from './find-claim.ts'
import { waitUntilActive } from './wait-until-active.ts'

const EXIT_PENDING = 1
const LIST_BATCH = 100
const WAIT_MINUTES = 60
const MINUTE_MS = 60_000

type CheckOptions = { workspace?: string; wait?: number | true; json?: true }
type ListOptions = { workspace?: string; json?: true }

export function domainCommand(terminal: Terminal, withDomains: RunWith<DomainTools>): Command {
  const command = new Command('domain')
    .description('Add, list, check and remove domains, choose the default one, and set HSTS.')
    .addHelpText('after', example('domain add go.example.com --workspace acme'))

  command
    .command('add')
    .description('Add a domain to a workspace, and print the DNS records to set.')
    .argument('<host>', 'such as go.example.com')
    .requiredOption('--workspace <name>', 'the workspace to add it to')
    .option('--json', 'print JSON')
    .addHelpText('after', example('domain add go.example.com --workspace acme'))
    .action(async (host: string, options: { workspace: string; json?: true }) => {
      const report = await withDomains(async ({ workspaces, domains, checks }) => {
        const actor = commandLine((await workspaces.get(options.workspace)).id)
        const domain = await domains.create(actor, { domain: host })
        return checks.report(actor, domain.id)
      })
      terminal.out(options.json ? plainJson(reportAsJson(report)) : dnsReportText(report))
      if (report.domain.status === 'pending' && !options.json) {
        const { host: added } = report.domain
        const next = `domain check ${added} --workspace ${options.workspace} --wait`
        terminal.out(`\nThen: ${terseCommand(next)}`)
      }
    })

  command
    .command('list')
    .description('List the domains of a workspace, or of all.')
    .option('--workspace <name>', 'only those of this workspace')
    .option('--json', 'print JSON')
    .addHelpText('after', example('domain list --workspace acme'))
    .action(async (options: ListOptions) => {
      const rows = await withDomains((tools) => listDomains(tools, options.workspace))
      terminal.out(
        options.json
          ? plainJson(rows)
          : formatTable(
              ['DOMAIN', 'STATUS', 'CERTIFICATE', 'WORKSPACE', 'CREATED'],
              rows.map((row) => [
                formatHost(row.domain),
                row.status,
                inOneWord(row.certificate),
                row.workspace,
                row.created_at,
              ]),
            ),
      )
    })

  command
    .command('check')
    .description('Check the DNS of a domain now, and print what to do. Exits with 1 unless active.')
    .argument('<host>', 'such as go.example.com')
    .option('--workspace <name>', 'the workspace of the domain; required if several have added it')
    .option(
      '--wait [minutes]',
      `wait until it is active; ${WAIT_MINUTES} minutes if not given`,
      parseMinutes,
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('domain check go.example.com --wait'))
    .action(async (host: string, options: CheckOptions) => {
      const report = await withDomains((tools) => check(terminal, tools, host, options))
      if (options.json) terminal.out(plainJson(reportAsJson(report)))
      else if (options.wait === undefined) terminal.out(dnsReportText(report))
      if (report.domain.status !== 'active') process.exitCode = EXIT_PENDING
    })

  command.addCommand(defaultCommand(terminal, withDomains))
  command.addCommand(hstsCommand(terminal, withDomains))
  command.addCommand(removeCommand(terminal, withDomains))
  return command
}

async function check(
  terminal: Terminal,
  tools: DomainTools,
  host: string,
  options: CheckOptions,
): Promise<DnsReport> {
  const domain = await findClaim(tools, host, options.workspace)
  if (options.wait === undefined) {
    return tools.checks.verify(commandLine(domain.workspace_id), domain.id)
  }
  const minutes = options.wait === true ? WAIT_MINUTES : options.wait
  return waitUntilActive(terminal, tools.checks, domain, minutes * MINUTE_MS)
}

async function listDomains(
  { workspaces, domains, findCertificate }: DomainTools,
  workspaceName: string | undefined,
) {
  const owners =
    workspaceName === undefined ? await workspaces.list() : [await workspaces.get(workspaceName)]
  const rows = []
  for (const { id: workspaceId, name } of owners) {
    for (let offset = 0; ; offset += LIST_BATCH) {
      const { items } = await domains.list(commandLine(workspaceId), {}, offset, LIST_BATCH)
      for (const { id, host, status, created_at } of items) {
        const created = formatInstant(created_at)
        const standing = status === 'active' ? await findCertificate?.(host) : undefined
        const certificate = standing === undefined ? null : certificateAsJson(standing)
        rows.push({
          id,
          domain: host,
          unicode_domain: displayHost(host),
          status,
          workspace: name,
          created_at: created,
          certificate,
        })
      }
      if (items.length < LIST_BATCH) break
    }
  }
  return rows
}

function instant(micros: number | null): string | null {
  return micros === null ? null : formatInstant(micros)
}

function certificateAsJson({ life, problem, nextAttemptAt }: CertificateStanding) {
  return {
    valid_until: instant(life?.notAfter ?? null),
    problem,
    next_attempt_at: instant(nextAttemptAt),
  }
}

function inOneWord(certificate: ReturnType<typeof certificateAsJson> | null): string {
  if (certificate === null) return '-'
  const { valid_until, problem } = certificate
  if (problem !== null) return 'failing'
  return valid_until === null ? 'ordering' : `until ${valid_until.slice(0, 10)}`
}

function reportAsJson({
  domain,
  policy,
  checkedAt,
  nextCheckAt,
  missingSince,
  certificate,
  ...report
}: DnsReport) {
  return {
    domain: domain.host,
    unicode_domain: displayHost(domain.host),
    status: domain.status,
    proof: policy,
    ...report,
    last_check_at: instant(checkedAt),
    next_check_at: instant(nextCheckAt),
    missing_since: instant(missingSince),
    pending_from: instant(missingSince && pendingFrom(missingSince)),
    certificate: certificate && certificateAsJson(certificate),
  }
}

function parseMinutes(text: string): number {
  const minutes = Number(text)
  if (!(minutes >= 0 && minutes <= 10_080)) {
    throw new InvalidArgumentError('It must be a number of minutes, up to 10080.')
  }
  return minutes
}
