import { Command } from 'commander'
import { displayHost, formatHost } from '../../hosts/index.ts'
import { commandLine } from '../../identity/index.ts'
import { example, type RunWith } from '../../platform/cli/options.ts'
import { plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import type { DomainTools } from './domain-tools.ts'
import { findClaim } from './find-claim.ts'

type Options = { readonly workspace: string; readonly json?: true }

export function removeCommand(terminal: Terminal, withDomains: RunWith<DomainTools>): Command {
  return new Command('remove')
    .description('Remove a domain from a workspace. Its links are kept, but stop working.')
    .argument('<host>', 'such as go.example.com')
    .requiredOption('--workspace <name>', 'the workspace whose domain it is')
    .option('--json', 'print JSON')
    .addHelpText('after', example('domain remove go.example.com --workspace acme'))
    .action(async (name: string, { workspace, json }: Options) => {
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
