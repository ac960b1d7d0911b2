import { Command } from 'commander'
import { formatInstant } from '../../lib/instant.ts'
import { example } from '../example.ts'
import { formatTable, type Terminal } from '../terminal.ts'
import { withInstance } from '../with-instance.ts'

export function workspaceCommand(terminal: Terminal): Command {
  const command = new Command('workspace')
    .description('Create and list workspaces.')
    .addHelpText('after', example('workspace create acme'))

  command
    .command('create')
    .description('Create a workspace and print its identifier.')
    .argument('<name>', 'lower-case letters, digits and hyphens')
    .addHelpText('after', example('workspace create acme'))
    .action(async (name: string) => {
      const workspace = await withInstance(({ workspaces }) => workspaces.create(name))
      terminal.out(workspace.id)
    })

  command
    .command('list')
    .description('List all workspaces.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('workspace list --json'))
    .action(async (options: { json?: true }) => {
      const workspaces = await withInstance((instance) => instance.workspaces.list())
      const rows = workspaces.map(({ id, name, created_at }) => ({
        id,
        name,
        created_at: formatInstant(created_at),
      }))
      terminal.out(
        options.json
          ? JSON.stringify(rows, null, 2)
          : formatTable(
              ['NAME', 'ID', 'CREATED'],
              rows.map((row) => [row.name, row.id, row.created_at]),
            ),
      )
    })

  return command
}
