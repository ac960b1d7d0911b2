import { Command, InvalidArgumentError } from 'commander'
import { example, type RunWith } from '../../platform/cli/options.ts'
import { formatTable, plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import { commandLine } from '../actor.ts'
import { NO_OVERRIDES, QUOTA_NAMES, type QuotaName, type QuotaOverrides } from '../quotas/quota.ts'
import { usageOf } from '../quotas/usage.ts'
import type { WorkspaceServices } from './workspace-services.ts'

const MIB = 1024 * 1024
const LIMIT_MAX = 1_000_000_000_000

/**
 * A number, 0 for none; `default` for the instance's own limit. Commander takes null for an option
 * without a value.
 */
type Limit = number | 'default'

type QuotaOptions = { json?: true } & {
  readonly links?: Limit
  readonly domains?: Limit
  readonly pendingDomains?: Limit
  readonly storageMib?: Limit
  readonly requests?: Limit
}

type Row = { quota: QuotaName; used: number | null; limit: number | null; of: string }

export function workspaceQuotaCommand(
  terminal: Terminal,
  withServices: RunWith<WorkspaceServices>,
): Command {
  return new Command('quota')
    .description('Show what a workspace uses and may use; with options, set its own limits first.')
    .argument('<workspace>', 'its name or identifier')
    .option('--links <limit>', 'links', parseLimit)
    .option('--domains <limit>', 'domains, active and pending', parseLimit)
    .option('--pending-domains <limit>', 'domains that wait for their proof', parseLimit)
    .option('--storage-mib <limit>', 'text in MiB that its links hold', parseLimit)
    .option('--requests <limit>', 'API requests per minute, of all its tokens', parseLimit)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nA limit is a whole number, none, or default: that of the instance (TERSE_QUOTA_LINKS and the like).' +
        '\nRunning servers follow within a second.',
    )
    .addHelpText('after', example('workspace quota acme --links 5000 --requests none'))
    .action(async (name: string, options: QuotaOptions) => {
      const rows = await withServices(async (services): Promise<Row[]> => {
        const workspace = await services.workspaces.getByNameOrId(name)
        const changes = changesOf(options)
        if (Object.keys(changes).length > 0) {
          await services.workspaces.limit(commandLine(workspace.id), changes)
        }
        const own = (await services.store.read.quotas.find(workspace.id)) ?? NO_OVERRIDES
        const { used, limits } = await usageOf(services)(commandLine(workspace.id))
        return QUOTA_NAMES.map((quota) => ({
          quota,
          used: quota === 'requests_per_minute' ? null : used[quota],
          limit: limits[quota] || null,
          of: own[quota] === null ? 'instance' : 'workspace',
        }))
      })
      terminal.out(options.json ? plainJson(rows) : table(rows))
    })
}

function changesOf(options: QuotaOptions): Partial<QuotaOverrides> {
  const mib = options.storageMib
  const given: Partial<Record<QuotaName, Limit | undefined>> = {
    links: options.links,
    domains: options.domains,
    pending_domains: options.pendingDomains,
    storage_bytes: typeof mib === 'number' ? mib * MIB : mib,
    requests_per_minute: options.requests,
  }
  const entries = Object.entries(given).filter(([, limit]) => limit !== undefined)
  return Object.fromEntries(
    entries.map(([name, limit]) => [name, limit === 'default' ? null : limit]),
  )
}

function table(rows: readonly Row[]): string {
  return formatTable(
    ['QUOTA', 'USED', 'LIMIT', 'SET FOR'],
    rows.map(({ quota, used, limit, of }) => [
      quota,
      used === null ? '' : String(used),
      limit === null ? 'none' : String(limit),
      of,
    ]),
  )
}

function parseLimit(text: string): Limit {
  if (text === 'default') return text
  if (text === 'none') return 0
  const limit = /^\d{1,13}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > LIMIT_MAX) {
    throw new InvalidArgumentError(
      `It must be a whole number from 1 to ${LIMIT_MAX}, none or default.`,
    )
  }
  return limit
}
