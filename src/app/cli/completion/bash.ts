import { type CompletedCommand, everyCommand } from './command-tree.ts'

/** Returns a script that completes commands and options in bash. */
export function bashCompletion(tree: CompletedCommand): string {
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
