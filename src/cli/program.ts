import { Command } from 'commander'
import { terseCommand } from '../lib/command-words.ts'
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
import { example } from './example.ts'
import type { Terminal } from './terminal.ts'

/** The whole command line. Throws what goes wrong, after commander has told its own errors. */
export function buildProgram(terminal: Terminal): Command {
  const program = new Command(terseCommand(''))
    .description('Short links on your own domains.')
    .version(VERSION)
    .option('--data-dir <folder>', 'the data folder, before TERSE_DATA_DIR')
    .option('--env-file <file>', 'a file with settings, before TERSE_ENV_FILE')
    .addHelpText('after', example('serve'))
    .addHelpText(
      'after',
      '\nSettings are environment variables, or stand in terse.env in the data folder; the README lists them.',
    )
    .hook('preAction', (command) => setVariables(command.opts()))
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

/** Options that every command has stand for variables, also for the processes that it starts. */
function setVariables({ dataDir, envFile }: { dataDir?: string; envFile?: string }): void {
  if (dataDir !== undefined) process.env.TERSE_DATA_DIR = dataDir
  if (envFile !== undefined) process.env.TERSE_ENV_FILE = envFile
}

/** Makes every command throw instead of ending the process, and write where it is told to. */
function withoutExits(command: Command, terminal: Terminal): Command {
  command
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd().replace(/^error:/, 'terse:')),
    })
  for (const child of command.commands) withoutExits(child, terminal)
  return command
}
