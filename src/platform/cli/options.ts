import { InvalidArgumentError, Option } from 'commander'
import { terseCommand } from '../process/terse-command.ts'

/** Opens services, runs `work` with them, and closes them. */
export type RunWith<Services> = <T>(work: (services: Services) => Promise<T>) => Promise<T>

/** Formats example command lines for the end of a command's help. */
export function example(...commands: readonly string[]): () => string {
  return () => ['', 'Example:', ...commands.map((args) => `  ${terseCommand(args)}`)].join('\n')
}

/** Parses an option that may be given several times. */
export function collect(value: string, values: readonly string[] = []): readonly string[] {
  return [...values, value]
}

/** As `collect`, of values that must be among these. */
export function collectAmong(known: readonly string[]): typeof collect {
  return (value, values) => {
    if (known.includes(value)) return collect(value, values)
    throw new InvalidArgumentError(`It must be one of ${known.join(', ')}.`)
  }
}

/** Returns a parser of whole numbers from 1 to `max`. */
export function parseUpTo(max: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (Number.isSafeInteger(number) && number >= 1 && number <= max) return number
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`)
  }
}

/** What a service lists, so that shells complete it. */
export type ListName = 'domains' | 'tags'

/** An option whose values the service lists. */
export class ListedOption extends Option {
  readonly list: ListName

  constructor(flags: string, description: string, list: ListName) {
    super(flags, description)
    this.list = list
  }
}
