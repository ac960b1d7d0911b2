import { Command } from 'commander'
import { commandLine } from '../../identity/index.ts'
import { example, type RunWith } from '../../platform/cli/options.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'
import { type ImportOptions, REVIVAL } from '../import.ts'
import { type ImportTools, runToEnd } from './run-import.ts'

type Options = {
  readonly workspace?: string
  readonly dryRun?: boolean
  readonly report?: string
  readonly json?: true
}

/** A revival reads no source, which these options are about. */
const NO_OPTIONS: ImportOptions = { domains: {}, onConflict: 'skip', timeZone: 'UTC', columns: {} }

export function reviveCommand(terminal: Terminal, withImports: RunWith<ImportTools>): Command {
  return new Command('revive')
    .description(
      'Make rules, limits, beginnings and notes of what earlier imports kept beside their links. Changes nothing that a link has itself.',
    )
    .option('--workspace <name>', 'the workspace of the links')
    .option('--dry-run', 'only report what would be done')
    .option(
      '--report <file>',
      'write what became of each link, and what was not carried over, as CSV',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('import revive --workspace acme --dry-run --report report.csv'))
    .action(async (_: unknown, command: Command) => {
      // Commander assigns options that `import` has too to `import`, wherever they stand.
      const options = command.optsWithGlobals<Options>()
      const { workspace, dryRun: isDryRun = false } = options
      if (workspace === undefined) command.error('error: --workspace is required')
      await withImports(async (tools) => {
        const { id } = await tools.workspaces.getByNameOrId(workspace)
        const request = { source: REVIVAL, isDryRun, options: NO_OPTIONS }
        await runToEnd(terminal, tools, {
          ...{ actor: commandLine(id), request, identity: [request], options },
          run: (importer, begun, signal) => importer.revive(begun, { signal }),
        })
      })
    })
}
