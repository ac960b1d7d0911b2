import { terseCommand } from '../process/terse-command.ts'

/** Formats example command lines for the end of a command's help. */
export function example(...commands: readonly string[]): () => string {
  return () => ['', 'Example:', ...commands.map((args) => `  ${terseCommand(args)}`)].join('\n')
}
