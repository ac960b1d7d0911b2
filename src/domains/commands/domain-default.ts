import { Command } from 'commander'
import { displayHost, formatHost } from '../../hosts/index.ts'
import { commandLine } from '../../identity/index.ts'
import { example, type RunWith } from '../../platform/cli/options.ts'
import { plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import type { DomainTools } from './domain-tools.ts'

type Options = { readonly workspace: string; readonly none?: true; readonly json?: true }

export function defaultCommand(terminal: Terminal, withDomains: RunWith<DomainTools>): Command {
  return new Command('default')
    .description('Show or set the domain on which the dashboard starts new links of a workspace.')
    .argument('[host]', 'such as go.example.com; shows the present one if not given')
    .requiredOption('--workspace <name>', 'the workspace of the domain')
    .option('--none', 'start on the domain that each person used last')
    .option('--json', 'print JSON')
    .addHelpText('after', example('domain default go.example.com --workspace acme'))
    .action(async (host: string | undefined, options: Options, command: Command) => {
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
