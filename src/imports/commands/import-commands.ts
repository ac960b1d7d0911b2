import { Command } from 'commander'
import type { RunWith } from '../../platform/cli/run-with.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'
import { type VerifyServices, verifyCommand } from './verify.ts'

export function importCommands(
  terminal: Terminal,
  withVerification: RunWith<VerifyServices>,
): Command {
  return new Command('import')
    .description('Move in from another service.')
    .addCommand(verifyCommand(terminal, withVerification))
}
