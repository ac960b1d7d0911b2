import { type CompletedCommand, everyCommand } from './command-tree.ts'

/** Returns a script that completes commands and options in zsh. */
export function zshCompletion(tree: CompletedCommand): string {
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
