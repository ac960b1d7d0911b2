import { Argument, Command } from 'commander'
import { example } from '../../platform/cli/options.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'
import { bashCompletion } from '../cli/completion/bash.ts'
import { commandTree } from '../cli/completion/command-tree.ts'
import { fishCompletion } from '../cli/completion/fish.ts'
import { zshCompletion } from '../cli/completion/zsh.ts'

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const

/** @param program whose commands are completed, when all are registered */
export function completionCommand(terminal: Terminal, program: Command): Command {
  return new Command('completion')
    .description('Print a script with which a shell completes the commands of terse.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', '\nTo complete now:\n  source <(terse completion bash)')
    .addHelpText('after', example('completion fish'))
    .action((shell: keyof typeof SCRIPTS) => {
      terminal.out(SCRIPTS[shell](commandTree(program)).trimEnd())
    })
}
