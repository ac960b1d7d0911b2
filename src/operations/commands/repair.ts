import { Command } from 'commander'
import { example } from '../../platform/cli/example.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'
import type { FileFault } from '../../platform/database/file-fault.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'

const EXIT_LEFT = 1

/** What is wrong with the files of a data folder, and what mends it; undefined where nothing does. */
export type RepairReport = {
  readonly faults: readonly FileFault[]
  readonly steps: readonly RepairStep[] | undefined
}

type RepairStep = {
  readonly file: string
  /** What the step does, and what is lost by it. */
  readonly meaning: string
}

/** Looks at the files of the data folder, and repairs them where `execute` says so. */
type Repair = (execute: boolean) => Promise<RepairReport>

export function repairCommand(terminal: Terminal, repair: Repair): Command {
  return new Command('repair')
    .description(
      'Show what is wrong with the SQLite files of a stopped service, what can be saved, and what is lost. A backup is better.',
    )
    .option('--yes', 'do it; damaged files are set aside, never removed')
    .addHelpText('after', example('repair', 'repair --yes'))
    .action(async (options: { yes?: true }) => {
      const { faults, steps } = await repair(options.yes ?? false)
      for (const { file, kind, text } of faults) terminal.out(`${kind.padEnd(10)} ${file}: ${text}`)
      if (faults.length === 0) {
        terminal.out('The files are in order.')
        return
      }
      if (steps === undefined) {
        terminal.out('terse.db holds the links and cannot be made again: restore a backup.')
        process.exitCode = EXIT_LEFT
        return
      }
      for (const step of steps) terminal.out(`\n${step.file}\n  ${step.meaning}`)
      if (options.yes) terminal.out('\nDone. Start the service.')
      else {
        terminal.out(
          `\nNothing was changed. Copy the folder, then run: ${terseCommand('repair --yes')}`,
        )
        process.exitCode = EXIT_LEFT
      }
    })
}
