import type { Command } from 'commander'
import type { RunWith } from '../../platform/cli/options.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'
import { type ImportTools, importCommand } from './import.ts'
import { type VerifyServices, verifyCommand } from './verify.ts'

export function importCommands(
  terminal: Terminal,
  withImports: RunWith<ImportTools>,
  withVerification: RunWith<VerifyServices>,
): Command {
  return importCommand(terminal, withImports).addCommand(verifyCommand(terminal, withVerification))
}
