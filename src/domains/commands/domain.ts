import { Command, InvalidArgumentError } from 'commander'
import { displayHost, formatHost } from '../../hosts/index.ts'
import { commandLine, type Workspaces } from '../../identity/index.ts'
import { example, type RunWith } from '../../platform/cli/options.ts'
import { formatTable, plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import { Failure } from '../../platform/failure.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import { pendingFrom } from '../check-schedule.ts'
import type { CertificateFinder, DnsReport } from '../dns-lookup.ts'
import type { CertificateStanding, Domain } from '../domain.ts'
import type { DomainChecks } from '../domain-checks.ts'
import type { DomainHttps } from '../domain-https.ts'
import type { Domains } from '../domains.ts'
import { dnsReportText, waitUntilActive } from './dns-report-text.ts'

/** The services that the domain commands use. */
export type DomainTools = {
  readonly workspaces: Pick<Workspaces, 'get' | 'list'>
  readonly domains: Domains
  readonly checks: DomainChecks
  readonly https: DomainHttps
  readonly findCertificate: CertificateFinder | undefined
}

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

type DefaultOptions = { readonly workspace: string; readonly none?: true; readonly json?: true }

function defaultCommand(terminal: Terminal, withDomains: RunWith<DomainTools>): Command {
  return new Command('default')
    .description('Show or set the domain on which the dashboard starts new links of a workspace.')
    .argument('[host]', 'such as go.example.com; shows the present one if not given')
    .requiredOption('--workspace <name>', 'the workspace of the domain')
    .option('--none', 'start on the domain that each person used last')
    .option('--json', 'print JSON')
    .addHelpText('after', example('domain default go.example.com --workspace acme'))
    .action(async (host: string | undefined, options: DefaultOptions, command: Command) => {
      if (host !== undefined && options.none)
        command.error('error: give a host or --none, not both')
      const domain = await withDomains(async ({ workspaces, domains }) => {
        const actor = commandLine((await workspaces.get(options.workspace)).id)
        if (host === undefined && !options.none) return domains.findDefault(actor)
        return domains.setDefault(actor, host ?? null)
      })
      if (options.json) {
        const shown = { domain: domain?.host ?? null, workspace: options.workspace }
        const unicode_domain = domain === undefined ? null : displayHost(domain.host)
        terminal.out(plainJson({ ...shown, unicode_domain }))
      } else terminal.err(sentence(domain?.host, options.workspace))
    })
}

function sentence(host: string | undefined, workspace: string): string {
  if (host === undefined) return `${workspace} has no default domain.`
  return `New links of ${workspace} start on ${formatHost(host)}.`
}

const OFF = 'off'

type HstsOptions = { readonly workspace?: string; readonly json?: true }

function hstsCommand(terminal: Terminal, withDomains: RunWith<DomainTools>): Command {
  return new Command('hsts')
    .description('Set for how long browsers use only HTTPS for a domain (HSTS).')
    .argument('<host>', 'such as go.example.com')
    .argument(
      '<seconds>',
      `for how long after each visit; 0 ends it in browsers that visit again, "${OFF}" sends no header`,
      parseSeconds,
    )
    .option('--workspace <name>', 'the workspace of the domain; required if several have added it')
    .option('--json', 'print JSON')
    .addHelpText('after', example('domain hsts go.example.com 31536000'))
    .action(async (host: string, seconds: number | null, options: HstsOptions) => {
      const { domain, hstsMaxAge } = await withDomains(async (tools) => {
        const { workspace_id, id } = await findClaim(tools, host, options.workspace)
        return tools.https.setHsts(commandLine(workspace_id), id, seconds)
      })
      const { id, host: changed } = domain
      const shown = { id, domain: changed, unicode_domain: displayHost(changed) }
      if (options.json) terminal.out(plainJson({ ...shown, hsts_max_age: hstsMaxAge }))
      else terminal.err(`${formatHost(changed)} ${outcome(hstsMaxAge)}.`)
    })
}

function outcome(maxAgeSeconds: number | null): string {
  if (maxAgeSeconds === null) return 'sends no HSTS header'
  if (maxAgeSeconds === 0) return 'sends an HSTS header that ends HSTS in browsers'
  return `sends an HSTS header: browsers use only HTTPS for ${maxAgeSeconds} seconds after each visit`
}

function parseSeconds(text: string): number | null {
  if (text === OFF) return null
  if (!/^\d{1,9}$/.test(text)) {
    throw new InvalidArgumentError(`It must be a whole number of seconds, or "${OFF}".`)
  }
  return Number(text)
}

type RemoveOptions = { readonly workspace: string; readonly json?: true }

function removeCommand(terminal: Terminal, withDomains: RunWith<DomainTools>): Command {
  return new Command('remove')
    .description('Remove a domain from a workspace. Its links are kept, but stop working.')
    .argument('<host>', 'such as go.example.com')
    .requiredOption('--workspace <name>', 'the workspace whose domain it is')
    .option('--json', 'print JSON')
    .addHelpText('after', example('domain remove go.example.com --workspace acme'))
    .action(async (name: string, { workspace, json }: RemoveOptions) => {
      const { id, host } = await withDomains(async (tools) => {
        const found = await findClaim(tools, name, workspace)
        await tools.domains.delete(commandLine(found.workspace_id), found.id)
        return found
      })
      if (json) {
        terminal.out(plainJson({ id, domain: host, unicode_domain: displayHost(host), workspace }))
      } else terminal.err(`${formatHost(host)} is removed from ${workspace}.`)
    })
}

/**
 * Returns the domain with this host: of the named workspace, or of the only workspace that has it.
 *
 * @throws {Failure} `not_found`; `validation_failed` when several workspaces have it and none is named
 */
async function findClaim(
  { workspaces, domains }: DomainTools,
  host: string,
  workspaceName: string | undefined,
): Promise<Domain> {
  if (workspaceName !== undefined) {
    return domains.getByHost(commandLine((await workspaces.get(workspaceName)).id), host)
  }
  const claims: { workspace: string; domain: Domain }[] = []
  for (const { id, name } of await workspaces.list()) {
    try {
      claims.push({ workspace: name, domain: await domains.getByHost(commandLine(id), host) })
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'not_found')) throw error
    }
  }
  const [only, ...others] = claims
  if (only === undefined) throw Failure.notFound(`Domain ${host}`)
  if (others.length > 0) {
    const names = claims.map(({ workspace }) => workspace).join(', ')
    throw Failure.invalidCommand(`workspace is needed: ${host} was added by ${names}`)
  }
  return only.domain
}
