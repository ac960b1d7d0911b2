import { Argument, Command, type Option } from 'commander'
import { example, ListedOption, type ListName } from '../../platform/cli/options.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'

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
type CompletedCommand = {
  /** The words before which it is complete, such as `['link', 'create']`. */
  readonly path: readonly string[]
  readonly description: string
  readonly subcommands: readonly CompletedCommand[]
  readonly options: readonly CompletedOption[]
}

/** Reads commands and options from a program, without hidden ones. */
function commandTree(program: Command): CompletedCommand {
  return toCompleted(program, [])
}

/** The command and all below it. */
function everyCommand(command: CompletedCommand): readonly CompletedCommand[] {
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

/** Returns a script that completes commands and options in bash. */
function bashCompletion(tree: CompletedCommand): string {
  const commands = everyCommand(tree)
  const pathOf = ({ path }: CompletedCommand) => ['terse', ...path].join(' ')
  const entered = commands.slice(1).map((command) => `"${pathOf(command)}"`)
  const values = commands.flatMap((command) =>
    command.options
      .filter(({ takesValue }) => takesValue)
      .map(({ flags, choices, list }) => {
        const cases = flags.map((flag) => `"${pathOf(command)} ${flag}"`).join(' | ')
        const reply =
          list !== undefined
            ? `_terse_listed ${list}`
            : choices.length === 0
              ? 'COMPREPLY=($(compgen -f -- "$current"))'
              : `COMPREPLY=($(compgen -W "${choices.join(' ')}" -- "$current"))`
        return `    ${cases}) ${reply}; return ;;`
      }),
  )
  const words = commands.map((command) => {
    const names = command.subcommands.map(({ path }) => path.at(-1) ?? '')
    const flags = command.options.flatMap((option) => option.flags)
    return `    "${pathOf(command)}") names="${names.join(' ')}"; flags="${flags.join(' ')}" ;;`
  })
  return `# Completion of terse for bash. Add this line to ~/.bashrc:
#   source <(terse completion bash)
# What others have named is quoted, and never goes through compgen -W, which would run $(...) in it.
_terse_listed() {
  local typed="\${current//\\\\/}" value quoted
  COMPREPLY=()
  while IFS= read -r value; do
    printf -v quoted %q "$value"
    if [[ "$value" == "$typed"* ]]; then COMPREPLY+=("$quoted"); fi
  done < <(terse listed "$1" -- "$typed" 2> /dev/null < /dev/null)
}
_terse() {
  local command="terse" names="" flags="" position
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  for ((position = 1; position < COMP_CWORD; position++)); do
    case "$command \${COMP_WORDS[position]}" in
      ${entered.join(' | ')})
        command="$command \${COMP_WORDS[position]}" ;;
    esac
  done
  case "$command $previous" in
${values.join('\n')}
  esac
  case "$command" in
${words.join('\n')}
  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$names" -- "$current"))
  fi
}
complete -o default -F _terse terse
`
}

/** Returns a script that completes commands and options in zsh. */
function zshCompletion(tree: CompletedCommand): string {
  const commands = everyCommand(tree)
  const nameOf = ({ path }: CompletedCommand) => ['terse', ...path].join(' ')
  const entered = commands.slice(1).map((command) => `'${nameOf(command)}'`)
  const values = commands.flatMap((command) =>
    command.options
      .filter(({ takesValue }) => takesValue)
      .map(({ flags, choices, list }) => {
        const cases = flags.map((flag) => `'${nameOf(command)} ${flag}'`).join('|')
        const listed = `compadd -- \${(f)"$(terse listed ${list} -- "$PREFIX" 2> /dev/null < /dev/null)"}`
        const other = choices.length === 0 ? '_files' : `compadd -- ${choices.join(' ')}`
        const reply = list === undefined ? other : listed
        return `    ${cases}) ${reply}; return ;;`
      }),
  )
  const described = commands.map((command) => {
    const names = command.subcommands.map(({ path, description }) =>
      entryOf(path.at(-1) ?? '', description),
    )
    const flags = command.options.flatMap((option) =>
      option.flags.map((flag) => entryOf(flag, option.description)),
    )
    return `    '${nameOf(command)}') names=(${names.join(' ')}); flags=(${flags.join(' ')}) ;;`
  })
  return `#compdef terse
# Completion of terse for zsh. Add this line to ~/.zshrc, after compinit:
#   source <(terse completion zsh)
_terse() {
  local command=terse word
  local -a names flags
  for word in \${words[2,CURRENT-1]}; do
    case "$command $word" in
      ${entered.join('|')}) command="$command $word" ;;
    esac
  done
  case "$command \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  case $command in
${described.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe option flags
  elif (( \${#names} )); then
    _describe command names
  else
    _files
  fi
}
compdef _terse terse
`
}

function entryOf(name: string, description: string): string {
  return `'${`${name.replaceAll(':', '\\:')}:${description}`.replaceAll("'", "'\\''")}'`
}

/** Returns a script that completes commands and options in fish. */
function fishCompletion(tree: CompletedCommand): string {
  const commands = everyCommand(tree)
  const entered = commands.slice(1).map(({ path }) => quote(['terse', ...path].join(' ')))
  const lines = commands.flatMap((command) => {
    const condition = `-n ${quote(`__terse_at ${['terse', ...command.path].join(' ')}`)}`
    const subcommands = command.subcommands.map(
      ({ path, description }) =>
        `complete -c terse -f ${condition} -a ${path.at(-1)} -d ${quote(description)}`,
    )
    const options = command.options.map(({ flags, description, takesValue, choices, list }) => {
      const names = flags.map((flag) =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      )
      const value = !takesValue
        ? []
        : list !== undefined
          ? ['-x', `-a '(terse listed ${list} -- (commandline -ct) 2> /dev/null < /dev/null)'`]
          : choices.length === 0
            ? ['-r', '-F']
            : ['-x', `-a ${quote(choices.join(' '))}`]
      return ['complete -c terse', condition, ...names, ...value, `-d ${quote(description)}`].join(
        ' ',
      )
    })
    return [...subcommands, ...options]
  })
  return `# Completion of terse for fish. Save it: terse completion fish > ~/.config/fish/completions/terse.fish
function __terse_at
  set -l command terse
  for word in (commandline -opc)[2..-1]
    if contains -- "$command $word" ${entered.join(' ')}
      set command "$command $word"
    end
  end
  test "$command" = "$argv"
end
${lines.join('\n')}
`
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
