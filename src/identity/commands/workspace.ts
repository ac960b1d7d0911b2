import { Command, InvalidArgumentError } from 'commander'
import { example, type RunWith } from '../../platform/cli/options.ts'
import {
  confirmDeletion,
  formatTable,
  plainJson,
  type Terminal,
} from '../../platform/cli/terminal.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import type { Store } from '../../storage/store.ts'
import { commandLine } from '../actor.ts'
import { NO_OVERRIDES, QUOTA_NAMES, type QuotaName, type QuotaOverrides } from '../quotas/quota.ts'
import { type QuotaBook, type QuotaStores, usageReader } from '../quotas/quota-book.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'

export function workspaceCommand(
  terminal: Terminal,
  withServices: RunWith<WorkspaceServices>,
): Command {
  const command = new Command('workspace')
    .description('Create, list, rename and limit workspaces.')
    .addHelpText('after', example('workspace create acme'))

  command
    .command('create')
    .description('Create a workspace and print its identifier.')
    .argument('<name>', 'lower-case letters, digits and hyphens')
    .option('--title <title>', 'the name that people see, in any letters')
    .option('--json', 'print JSON')
    .addHelpText('after', example('workspace create acme --title "Acme Shop"'))
    .action(async (name: string, { title, json }: { title?: string; json?: true }) => {
      const workspace = await withServices(({ workspaces }) =>
        workspaces.create(commandLine, name, { title }),
      )
      const { id, created_at, ...named } = workspace
      const shown = { id, ...named, created_at: formatInstant(created_at) }
      terminal.out(json ? plainJson(shown) : id)
      const invitation = `person invite EMAIL --workspace ${workspace.name} --role owner`
      terminal.err(`It has no owner yet. To invite one: ${terseCommand(invitation)}`)
    })

  command
    .command('list')
    .description('List all workspaces.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('workspace list --json'))
    .action(async (options: { json?: true }) => {
      const rows = await withServices(async ({ workspaces, store }) => {
        const quotas = await store.read.quotas.list()
        return (await workspaces.list()).map(({ id, name, title, created_at }) => ({
          id,
          name,
          title,
          created_at: formatInstant(created_at),
          own_quotas: quotas.get(id) ?? NO_OVERRIDES,
        }))
      })
      terminal.out(
        options.json
          ? plainJson(rows)
          : formatTable(
              ['NAME', 'TITLE', 'ID', 'CREATED', 'OWN QUOTAS'],
              rows.map((row) => [
                row.name,
                row.title,
                row.id,
                row.created_at,
                ownQuotas(row.own_quotas),
              ]),
            ),
      )
    })

  addChanges(command, terminal, withServices)
  command.addCommand(workspaceQuotaCommand(terminal, withServices))
  return command
}

function addChanges(
  command: Command,
  terminal: Terminal,
  withServices: RunWith<WorkspaceServices>,
): void {
  command
    .command('rename')
    .description('Rename a workspace. Its identifier, links and tokens stay as they are.')
    .argument('<name>', 'the name of the workspace')
    .argument('<new-name>', 'lower-case letters, digits and hyphens')
    .option('--json', 'print JSON')
    .addHelpText('after', example('workspace rename acme acme-eu'))
    .action(async (name: string, newName: string, options: { json?: true }) => {
      const id = await withServices(async ({ workspaces }) => {
        const found = await workspaces.get(name)
        await workspaces.change(commandLine(found.id), { name: newName })
        return found.id
      })
      if (options.json) terminal.out(plainJson({ id, name: newName }))
      else terminal.err(`${name} is now called ${newName}.`)
    })

  command
    .command('title')
    .description('Change the name that people see.')
    .argument('<name>', 'the name of the workspace')
    .argument('<title>', 'in any letters')
    .option('--json', 'print JSON')
    .addHelpText('after', example('workspace title acme "Acme Shop"'))
    .action(async (name: string, title: string, options: { json?: true }) => {
      const id = await withServices(async ({ workspaces }) => {
        const found = await workspaces.get(name)
        await workspaces.change(commandLine(found.id), { title })
        return found.id
      })
      if (options.json) terminal.out(plainJson({ id, name, title }))
      else terminal.err(`People see ${name} as ${title}.`)
    })

  command
    .command('bind-groups')
    .description('Let the name in TERSE_OIDC_ROLES mean the workspace that has it now.')
    .argument('<name>', 'the name of the workspace')
    .option('--json', 'print JSON')
    .addHelpText('after', example('workspace bind-groups acme'))
    .action(async (name: string, options: { json?: true }) => {
      const id = await withServices(async ({ workspaces }) => {
        const found = await workspaces.get(name)
        await workspaces.bindGroups(commandLine(found.id))
        return found.id
      })
      if (options.json) terminal.out(plainJson({ id, name }))
      else terminal.err(`Groups that TERSE_OIDC_ROLES maps to ${name} have roles in ${id} now.`)
    })

  command
    .command('delete')
    .description('Delete a workspace with its links, domains and clicks. This cannot be undone.')
    .argument('<name>', 'the name of the workspace')
    .option('--yes', 'delete without a question; needed outside a terminal')
    .option('--json', 'print JSON')
    .addHelpText('after', example('workspace delete acme'))
    .action(async (name: string, options: { yes?: true; json?: true }) => {
      const id = await withServices(async ({ workspaces }) => {
        const found = await workspaces.get(name)
        const what = `the workspace ${name} with its links, domains and clicks`
        await confirmDeletion(terminal, what, options.yes ?? false)
        await workspaces.delete(commandLine(found.id))
        return found.id
      })
      if (options.json) terminal.out(plainJson({ id, name }))
      else terminal.err(`${name} is deleted. The service removes its links and domains now.`)
    })
}

function ownQuotas(quotas: QuotaOverrides): string {
  const set = QUOTA_NAMES.filter((name) => quotas[name] !== null)
  return set.map((name) => `${name}=${quotas[name] || 'none'}`).join(' ')
}

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
  readonly conversions?: Limit
  readonly storageMib?: Limit
  readonly requests?: Limit
}

type Row = { quota: QuotaName; used: number | null; limit: number | null; of: string }

function workspaceQuotaCommand(
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
        const { used, limits } = await usageReader(services)(commandLine(workspace.id))
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
    conversions: options.conversions,
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

/** What the commands about workspaces work with. */
type WorkspaceServices = {
  readonly store: Store<QuotaStores>
  readonly workspaces: Workspaces
  readonly quotas: QuotaBook
}
