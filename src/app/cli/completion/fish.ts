import { type CompletedCommand, everyCommand } from './command-tree.ts'

/** Returns a script that completes commands and options in fish. */
export function fishCompletion(tree: CompletedCommand): string {
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
