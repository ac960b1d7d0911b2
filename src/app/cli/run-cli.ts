import { CommanderError } from 'commander'
import { OutputFault, processTerminal, type Terminal } from '../../platform/cli/terminal.ts'
import { Failure } from '../../platform/failure.ts'
import { RemoteFault } from '../../remote/login-file.ts'
import { explainError } from './explain-error.ts'
import { buildProgram } from './program.ts'

const EXIT_FAILED = 1
const EXIT_NOT_SIGNED_IN = 3
const EXIT_NOT_FOUND = 4
const EXIT_INVALID = 5

/** The exit code for a reason of the API; that of any other is `EXIT_FAILED`. Scripts depend on them: see docs/command-line.md. */
const EXIT_CODES: Readonly<Partial<Record<string, number>>> = {
  unauthorized: EXIT_NOT_SIGNED_IN,
  not_found: EXIT_NOT_FOUND,
  validation_failed: EXIT_INVALID,
  bad_request: EXIT_INVALID,
}

/** Runs one command and sets the exit code. Writes an error to the terminal in one line. */
export async function runCli(
  args: readonly string[],
  terminal: Terminal = processTerminal(),
): Promise<void> {
  try {
    await buildProgram(terminal).parseAsync([...args], { from: 'user' })
  } catch (error) {
    if (error instanceof OutputFault) return
    if (!(error instanceof CommanderError)) terminal.err(`terse: ${explainError(error)}`)
    process.exitCode = exitCodeOf(error)
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) {
    // It shows the help of a command group that was typed without a command.
    const isHelp = error.code === 'commander.help'
    return error.exitCode === 0 || isHelp ? error.exitCode : EXIT_INVALID
  }
  const code = error instanceof Failure || error instanceof RemoteFault ? error.code : undefined
  return EXIT_CODES[code ?? ''] ?? EXIT_FAILED
}
