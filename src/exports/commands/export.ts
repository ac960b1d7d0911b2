import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ExportFormat } from '@terse/contract/export'
import { Command, Option } from 'commander'
import { commandLine, type Workspaces } from '../../identity/index.ts'
import { example, type RunWith } from '../../platform/cli/options.ts'
import { plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import { Failure } from '../../platform/failure.ts'
import type { WorkspaceExports } from '../workspace-exports.ts'
import { writeExportFile } from './export-file.ts'

type ExportServices = {
  readonly workspaces: Pick<Workspaces, 'get'>
  readonly workspaceExports: WorkspaceExports
}

type Options = {
  readonly workspace: string
  readonly format: ExportFormat
  readonly clicks?: boolean
  readonly output?: string
  readonly json?: true
}

export function exportCommand(terminal: Terminal, withServices: RunWith<ExportServices>): Command {
  return new Command('export')
    .description('Export everything that a workspace has.')
    .requiredOption('--workspace <name>', 'the workspace to export')
    .addOption(
      new Option('--format <format>', 'one JSON object a line, or a zip of CSV files')
        .choices(['ndjson', 'csv-zip'])
        .default('ndjson'),
    )
    .option('--clicks', 'add the single clicks that are still stored')
    .option('-o, --output <file>', 'write to this file; a broken NDJSON export goes on from there')
    .option('--json', 'print as JSON what was written to the file')
    .addHelpText('after', example('export --workspace acme --clicks -o acme.ndjson'))
    .action((options: Options) => withServices((services) => run(terminal, services, options)))
}

async function run(
  terminal: Terminal,
  { workspaces, workspaceExports }: ExportServices,
  { workspace, format, clicks = false, output, json }: Options,
): Promise<void> {
  const actor = commandLine((await workspaces.get(workspace)).id)
  const openExport = (cursor: string | undefined): Promise<Readable> =>
    workspaceExports.open(actor, { format, clicks, cursor }, () => {})
  if (output === undefined) {
    if (json) throw new Error('The export itself is on standard output. Name a file with -o.')
    if (format === 'csv-zip' && terminal.isInteractive) {
      throw new Error('A zip cannot be shown in a terminal. Name a file with -o.')
    }
    await pipeline(await openExport(undefined), terminal.output, { end: false })
    return
  }
  const openOrExplain = (cursor: string | undefined) =>
    openExport(cursor).catch((error: unknown) => {
      if (!(error instanceof Failure) || error.fields?.cursor === undefined) throw error
      throw new Error(`${output}.part is of another export. Remove it, and try again.`)
    })
  await writeExportFile(output, openOrExplain, format === 'ndjson')
  if (json) terminal.out(plainJson({ workspace, file: output, format, clicks }))
  else terminal.err(`The export of ${workspace} is in ${output}.`)
}
