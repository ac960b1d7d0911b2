import type { LabelsResource } from '@terse/contract/labels'
import { USUAL_LABEL_PARAMETER } from '@terse/contract/link-fields'
import { Command } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { plainJson, plainText, type Terminal } from '../../platform/cli/terminal.ts'
import { openRemote } from '../open-remote.ts'

const PATH = '/labels'

type Output = { readonly json?: true }

/** What a change makes of the settings. */
type Change = (before: LabelsResource) => LabelsResource

export function labelsCommand(terminal: Terminal): Command {
  const command = new Command('labels')
    .description(
      'Show or change how visits get labels: with "via", ?via=newsletter behind a short link counts as newsletter.',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('labels on src'))
    .action(async ({ json }: Output) => {
      const { client } = await openRemote()
      const { labelsSchema } = await import('@terse/contract/labels')
      print(terminal, await client.get(PATH, labelsSchema), json)
    })
  command
    .command('on')
    .description('Read labels from a parameter of short links from now on.')
    .argument('[parameter]', 'its name', USUAL_LABEL_PARAMETER)
    .option('--json', 'print JSON')
    .action((parameter: string, output: Output) =>
      change(terminal, output, (before) => ({ ...before, parameter })),
    )
  command
    .command('off')
    .description('Pass the parameter on to destinations, and count no labels.')
    .option('--json', 'print JSON')
    .action((output: Output) =>
      change(terminal, output, (before) => ({ ...before, parameter: null })),
    )
  command
    .command('add')
    .description('Always count labels by themselves.')
    .argument('<label...>')
    .option('--json', 'print JSON')
    .addHelpText('after', example('labels add newsletter podcast'))
    .action((added: string[], output: Output) =>
      change(terminal, output, ({ parameter, labels }) => ({
        parameter,
        labels: [...labels, ...added],
      })),
    )
  command
    .command('remove')
    .description('Take labels off the list. Their clicks stay counted.')
    .argument('<label...>')
    .option('--json', 'print JSON')
    .action((removed: string[], output: Output) =>
      change(terminal, output, ({ parameter, labels }) => ({
        parameter,
        labels: labels.filter((label) => !removed.includes(label)),
      })),
    )
  return command
}

async function change(terminal: Terminal, { json }: Output, by: Change): Promise<void> {
  const { client } = await openRemote()
  const { labelsSchema } = await import('@terse/contract/labels')
  const { value, version } = await client.getVersioned(PATH, labelsSchema)
  print(terminal, await client.put(PATH, labelsSchema, by(value), version), json)
}

function print(terminal: Terminal, settings: LabelsResource, json?: true): void {
  const { parameter, labels } = settings
  if (json) {
    terminal.out(plainJson(settings))
    return
  }
  terminal.out(
    parameter === null ? 'Labels are off.' : `Labels are read from ?${plainText(parameter)}=…`,
  )
  if (labels.length > 0) terminal.out(['Always counted:', ...labels.map(plainText)].join('\n'))
}
