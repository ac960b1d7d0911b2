import { Command } from 'commander'
import { VERSION } from '../lib/version.ts'
import { doctorCommand } from './commands/doctor.ts'
import { domainCommand } from './commands/domain.ts'
import { journalCommand } from './commands/journal.ts'
import { nodeCommand } from './commands/node.ts'
import { repairCommand } from './commands/repair.ts'
import { serveCommand } from './commands/serve.ts'
import { tokenCommand } from './commands/token.ts'
import { workerCommand } from './commands/worker.ts'
import { workspaceCommand } from './commands/workspace.ts'
import type { Terminal } from './terminal.ts'

/** The whole command line. Throws what goes wrong, after commander has told its own errors. */
export function buildProgram(terminal: Terminal): Command {
  const program = new Command('terse')
    .description('Short links on your own domains.')
    .version(VERSION)
    .addHelpText(
      'after',
      '\nExample:\n  terse serve\n\nSettings are environment variables; the README lists them.',
    )
  for (const command of [
    serveCommand(terminal),
    workspaceCommand(terminal),
    tokenCommand(terminal),
    domainCommand(terminal),
    nodeCommand(terminal),
    journalCommand(terminal),
    doctorCommand(terminal),
    repairCommand(terminal),
  ]) {
    program.addCommand(command)
  }
  program.addCommand(workerCommand(), { hidden: true })
  return withoutExits(program, terminal)
}

/** Makes every command throw instead of ending the process, and write where it is told to. */
function withoutExits(command: Command, terminal: Terminal): Command {
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.out(text.trimEnd()),
    writeErr: (text) => terminal.err(text.trimEnd().replace(/^error:/, 'terse:')),
  })
  for (const child of command.commands) withoutExits(child, terminal)
  return command
}
