import { Command } from 'commander'
import { example, type RunWith } from '../../platform/cli/options.ts'
import { plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import { INSTANCE } from '../../storage/event-log.ts'
import { commandLine } from '../actor.ts'
import { type SetupLinks, setupAddress } from '../sign-in/setup.ts'

type SetupServices = { readonly setupLinks: SetupLinks; readonly baseUrl: string }

export function setupCommand(terminal: Terminal, withServices: RunWith<SetupServices>): Command {
  return new Command('setup')
    .description('Print a link that sets up the first person. It works once, for 24 hours.')
    .addHelpText(
      'after',
      '\nThe person operates the instance and owns every workspace that has no owner. Links that were printed before stay valid.',
    )
    .addHelpText('after', example('setup'))
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }) => {
      const address = await withServices(async ({ setupLinks, baseUrl }) =>
        setupAddress(baseUrl, await setupLinks.create(commandLine(INSTANCE).name)),
      )
      terminal.out(options.json ? plainJson({ url: address }) : address)
    })
}
