import { Command } from 'commander'
import { backupCommand } from '../../backup/commands/backup.ts'
import { restoreCommand } from '../../backup/commands/restore.ts'
import { clicksCommand } from '../../clicks/commands/clicks.ts'
import { domainCommand } from '../../domains/commands/domain.ts'
import { eventCommand } from '../../events/commands/event.ts'
import { exportCommand } from '../../exports/commands/export.ts'
import { memberCommand, personCommand } from '../../identity/commands/people.ts'
import { setupCommand } from '../../identity/commands/setup.ts'
import { tokenCommand } from '../../identity/commands/token.ts'
import { workspaceCommand } from '../../identity/commands/workspace.ts'
import { importCommands } from '../../imports/commands/import.ts'
import { doctorCommand } from '../../operations/commands/doctor.ts'
import { journalCommand } from '../../operations/commands/journal.ts'
import { nodeCommand } from '../../operations/commands/node.ts'
import { repairCommand } from '../../operations/commands/repair.ts'
import { example } from '../../platform/cli/options.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'
import { setGivenOptions, terseCommand } from '../../platform/process/terse-command.ts'
import { VERSION } from '../../platform/process/version.ts'
import { conversionsCommand } from '../../remote/commands/conversions.ts'
import { domainSettingsCommand } from '../../remote/commands/domain-settings.ts'
import { explainCommand } from '../../remote/commands/explain.ts'
import { labelsCommand } from '../../remote/commands/labels.ts'
import { linkCommand } from '../../remote/commands/link.ts'
import { applyCommand, planCommand, pullCommand } from '../../remote/commands/links-as-code.ts'
import { listedCommand } from '../../remote/commands/listed.ts'
import { loginCommand, logoutCommand } from '../../remote/commands/login.ts'
import { ruleSetsCommand } from '../../remote/commands/rule-sets.ts'
import { rulesCommand } from '../../remote/commands/rules.ts'
import { statsCommand } from '../../remote/commands/stats.ts'
import { webhookCommand } from '../../remote/commands/webhook.ts'
import {
  backup,
  diagnose,
  list,
  moveClicks,
  repair,
  replay,
  restore,
  withDomains,
  withEvents,
  withExports,
  withImports,
  withInstance,
  withPeople,
  withSetup,
  withVerification,
} from './command-services.ts'
import { completionCommand } from './completion.ts'
import { serveCommand, workerCommand } from './serve.ts'

/** The options that every command has, and the variable that each sets, here and in processes it starts. */
const VARIABLES = { 'data-dir': 'TERSE_DATA_DIR', 'env-file': 'TERSE_ENV_FILE' } as const

/** Builds the whole command line. Parsing a faulty command throws, after commander has written the error. */
export function buildProgram(terminal: Terminal): Command {
  const program = new Command(terseCommand(''))
  const given = new Map<string, string>()
  // On being parsed, not before the action: examples in a command's help carry these options too.
  for (const [option, variable] of Object.entries(VARIABLES)) {
    program.on(`option:${option}`, (value: string) => {
      process.env[variable] = value
      given.set(`--${option}`, value)
      setGivenOptions(given)
    })
  }
  program
    .description('Short links on your own domains.')
    .version(VERSION)
    .option('--data-dir <folder>', 'the data folder, overrides TERSE_DATA_DIR')
    .option('--env-file <file>', 'a file with settings, overrides TERSE_ENV_FILE')
    .addHelpText('after', example('serve'))
    .addHelpText(
      'after',
      '\nSettings are environment variables, or stand in terse.env in the data folder; docs/settings.md lists them.',
    )
  for (const command of [
    serveCommand(terminal),
    loginCommand(terminal),
    logoutCommand(terminal),
    linkCommand(terminal),
    statsCommand(terminal),
    conversionsCommand(terminal),
    labelsCommand(terminal),
    rulesCommand(terminal),
    ruleSetsCommand(terminal),
    webhookCommand(terminal),
    explainCommand(terminal),
    planCommand(terminal),
    applyCommand(terminal),
    pullCommand(terminal),
    setupCommand(terminal, withSetup),
    workspaceCommand(terminal, withInstance),
    tokenCommand(terminal, withInstance),
    personCommand(terminal, withPeople),
    memberCommand(terminal, withPeople),
    eventCommand(terminal, withEvents),
    domainCommand(terminal, withDomains).addCommand(domainSettingsCommand(terminal)),
    importCommands(terminal, withImports, withVerification),
    exportCommand(terminal, withExports),
    nodeCommand(terminal, withInstance),
    journalCommand(terminal, replay),
    clicksCommand(terminal, moveClicks),
    doctorCommand(terminal, diagnose),
    repairCommand(terminal, repair),
    backupCommand(terminal, backup),
    restoreCommand(terminal, { list, restore }),
    completionCommand(terminal, program),
  ]) {
    program.addCommand(command)
  }
  program.addCommand(workerCommand(terminal), { hidden: true })
  program.addCommand(listedCommand(terminal), { hidden: true })
  return withoutExits(program, terminal)
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent)
}

/** Makes every command throw instead of ending the process, and write to `terminal`. */
function withoutExits(command: Command, terminal: Terminal): Command {
  command
    .exitOverride()
    .configureHelp({
      showGlobalOptions: true,
      // A command within another, such as `import verify`, shows its own options and those of all commands.
      visibleGlobalOptions: (shown) => rootOf(shown).options.filter((option) => !option.hidden),
    })
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd().replace(/^error:/, 'terse:')),
    })
  for (const child of command.commands) withoutExits(child, terminal)
  return command
}
