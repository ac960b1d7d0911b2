import type { Command, Option } from 'commander'
import { ListedOption, type ListName } from '../../../platform/cli/options.ts'

/** An option as shells complete it. */
type CompletedOption = {
  /** Such as `-o` and `--output`. */
  readonly flags: readonly string[]
  readonly description: string
  readonly takesValue: boolean
  /** The values to choose from; empty where any is possible. */
  readonly choices: readonly string[]
  /** The list of the service that has its values; undefined where none has. */
  readonly list: ListName | undefined
}

/** A command that can be typed. */
export type CompletedCommand = {
  /** The words before which it is complete, such as `['link', 'create']`. */
  readonly path: readonly string[]
  readonly description: string
  readonly subcommands: readonly CompletedCommand[]
  readonly options: readonly CompletedOption[]
}

/** Reads commands and options from a program, without hidden ones. */
export function commandTree(program: Command): CompletedCommand {
  return toCompleted(program, [])
}

/** The command and all below it. */
export function everyCommand(command: CompletedCommand): readonly CompletedCommand[] {
  return [command, ...command.subcommands.flatMap(everyCommand)]
}

function toCompleted(command: Command, path: readonly string[]): CompletedCommand {
  const help = command.createHelp()
  return {
    path,
    description: command.description().replace(/\s+/g, ' '),
    subcommands: help
      .visibleCommands(command)
      .filter((each) => each.name() !== 'help')
      .map((each) => toCompleted(each, [...path, each.name()])),
    options: help.visibleOptions(command).map(toOption),
  }
}

function toOption(option: Option): CompletedOption {
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    description: option.description.replace(/\s+/g, ' '),
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
    list: option instanceof ListedOption ? option.list : undefined,
  }
}
