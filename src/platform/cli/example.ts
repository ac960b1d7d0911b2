import { terseCommand } from '../process/terse-command.ts'

/** Ends a command's help with a line to type. */
export function example(...commands: readonly string[]): () => string {
  return () => ['', 'Example:', ...commands.map((args) => `  ${terseCommand(args)}`)].join('\n')
}
