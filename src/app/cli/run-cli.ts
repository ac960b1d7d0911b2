import { CommanderError } from 'commander'
import { OutputFault, processTerminal, type Terminal } from '../../platform/cli/terminal.ts'
import { explainError } from './explain-error.ts'
import { buildProgram } from './program.ts'

const EXIT_FAILED = 1

/** Runs one command and sets the exit code. Writes an error to the terminal in one line. */
export async function runCli(
  args: readonly string[],
  terminal: Terminal = processTerminal(),
): Promise<void> {
  try {
    await buildProgram(terminal).parseAsync([...args], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode
      return
    }
    if (error instanceof OutputFault) return
    terminal.err(`terse: ${explainError(error)}`)
    process.exitCode = EXIT_FAILED
  }
}
