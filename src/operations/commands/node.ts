import { Command } from 'commander'
import { example, type RunWith } from '../../platform/cli/options.ts'
import { formatTable, plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import type { Nodes } from '../nodes.ts'

export function nodeCommand(
  terminal: Terminal,
  withNodes: RunWith<{ readonly nodes: Nodes }>,
): Command {
  const command = new Command('node')
    .description('List the nodes of the instance, and forget lost ones.')
    .addHelpText('after', example('node list'))

  command
    .command('list')
    .description('List all nodes, including lost ones, with the backlog of their journals.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('node list --json'))
    .action(async (options: { json?: true }) => {
      const listed = await withNodes(({ nodes }) => nodes.list())
      const rows = listed.map((node) => ({
        ...node,
        started_at: formatInstant(node.started_at),
        beat_at: formatInstant(node.beat_at),
        oldest_click_at: node.oldest_click_at === null ? null : formatInstant(node.oldest_click_at),
      }))
      terminal.out(
        options.json
          ? plainJson(rows)
          : formatTable(
              ['NAME', 'PROCESS', 'STATE', 'VERSION', 'LAST SEEN', 'BACKLOG BYTES', 'ID'],
              rows.map((row) => [
                row.name,
                String(row.process),
                row.state,
                row.version,
                row.beat_at,
                String(row.backlog_bytes),
                row.id,
              ]),
            ),
      )
    })

  command
    .command('forget')
    .description(
      'Forget a lost node after its journal has been replayed, or when it cannot be recovered.',
    )
    .argument('<id>', 'the id that `node list` shows')
    .option('--json', 'print JSON')
    .addHelpText('after', example('node forget 019aa3c2-5b1e-7c3f-9d55-6f0e6a1b2c3d'))
    .action(async (id: string, options: { json?: true }) => {
      await withNodes(({ nodes }) => nodes.forget(id))
      if (options.json) terminal.out(plainJson({ id }))
    })

  return command
}
