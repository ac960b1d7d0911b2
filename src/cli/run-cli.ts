import { CommanderError } from 'commander'
import { ConfigError } from '../config/read-config.ts'
import { Failure } from '../domain/failure.ts'
import { buildProgram } from './program.ts'
import { processTerminal, type Terminal } from './terminal.ts'

const EXIT_FAILED = 1

/** Runs one command. Sets the exit code; whatever goes wrong is told as an error. */
export async function runCli(
  args: readonly string[],
  terminal: Terminal = processTerminal,
): Promise<void> {
  try {
    await buildProgram(terminal).parseAsync([...args], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode
      return
    }
    terminal.err(`terse: ${explain(error)}`)
    process.exitCode = EXIT_FAILED
  }
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (error instanceof Failure) {
    const cause =
      error.cause instanceof Error ? ` (${error.cause.message || error.cause.name})` : ''
    return error.message + cause
  }
  if (!(error instanceof Error)) return String(error)
  const hint =
    'code' in error && error.code === 'EADDRINUSE' ? '. Set TERSE_PORT to a free port.' : ''
  return error.message + hint
}
