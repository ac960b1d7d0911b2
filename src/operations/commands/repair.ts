import { Command } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import type { FileFault } from '../../storage/file-fault.ts'

const EXIT_LEFT = 1

/**
 * The faults of a data folder's files, and the steps that repair them; undefined when they cannot
 * be repaired.
 */
export type RepairReport = {
  readonly faults: readonly FileFault[]
  readonly steps: readonly RepairStep[] | undefined
}

type RepairStep = {
  readonly file: string
  /** What the step does, and which data it loses. */
  readonly meaning: string
}

/** Checks the files of the data folder, and repairs them if `execute` is true. */
type Repair = (execute: boolean) => Promise<RepairReport>

export function repairCommand(terminal: Terminal, repair: Repair): Command {
  return new Command('repair')
    .description(
      "Show the faults of a stopped service's SQLite files, what can be recovered, and what is lost. Prefer a backup.",
    )
    .option('--yes', 'carry out the repair; damaged files are moved aside, never deleted')
    .option('--json', 'print JSON')
    .addHelpText('after', example('repair', 'repair --yes'))
    .action(async (options: { yes?: true; json?: true }) => {
      const { faults, steps } = await repair(options.yes ?? false)
      if (options.json) {
        terminal.out(plainJson({ faults, steps: steps ?? null }))
        const isLeft = faults.length > 0 && (steps === undefined || !options.yes)
        if (isLeft) process.exitCode = EXIT_LEFT
        return
      }
      for (const { file, kind, text } of faults) terminal.out(`${kind.padEnd(10)} ${file}: ${text}`)
      if (faults.length === 0) {
        terminal.out('No fault was found.')
        return
      }
      if (steps === undefined) {
        terminal.out('terse.db holds the links and cannot be rebuilt: restore a backup.')
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
