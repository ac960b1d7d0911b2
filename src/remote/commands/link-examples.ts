import type { LinkExamplesResource } from '@terse/contract/explain'
import type { Command } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { plainJson, plainText, type Terminal } from '../../platform/cli/terminal.ts'
import { LINK, openRemote } from '../open-remote.ts'
import { readJson } from './rules.ts'

type Example = LinkExamplesResource['examples'][number]

export function addExamples(command: Command, terminal: Terminal): void {
  command
    .command('examples')
    .description(
      'Show the visitors that are tried before a link changes; with a file, replace them.',
    )
    .argument(...LINK)
    .argument('[file]', 'JSON as "link examples --json" prints it; - for standard input')
    .option('--json', 'print JSON')
    .addHelpText('after', example('link examples spring', 'link examples spring examples.json'))
    .action(async (text: string, file: string | undefined, { json }: { readonly json?: true }) => {
      const { client, find } = await openRemote()
      const { examplesSchema } = await import('@terse/contract/explain')
      const read = file === undefined ? undefined : readJson(file)
      const { id } = await find(text)
      const path = `/links/${id}/examples`
      const shown =
        read === undefined
          ? await client.get(path, examplesSchema)
          : await client.put(path, examplesSchema, Array.isArray(read) ? { examples: read } : read)
      terminal.out(json ? plainJson(shown) : describe(shown))
    })
}

function describe({ examples }: LinkExamplesResource): string {
  if (examples.length === 0) return 'It has no examples.'
  return examples.map((each) => plainText(lineOf(each))).join('\n')
}

/** The name, the visitor, and what they get. */
function lineOf({ name, visitor, expected }: Example): string {
  const facts = Object.entries(visitor).map(([fact, value]) => {
    return `${fact} ${typeof value === 'object' ? JSON.stringify(value) : value}`
  })
  const { kind, location, variant } = expected
  const gets = `${location ?? kind}${variant ? ` (${variant})` : ''}`
  return `${name}: ${facts.join(', ') || 'any visitor'} → ${gets}`
}
