import { Command, InvalidArgumentError } from 'commander'
import { displayHost, formatHost } from '../../hosts/index.ts'
import { commandLine } from '../../identity/index.ts'
import { example, type RunWith } from '../../platform/cli/options.ts'
import { plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import type { DomainTools } from './domain-tools.ts'
import { findClaim } from './find-claim.ts'

const OFF = 'off'

type Options = { readonly workspace?: string; readonly json?: true }

export function hstsCommand(terminal: Terminal, withDomains: RunWith<DomainTools>): Command {
  return new Command('hsts')
    .description('Set for how long browsers use only HTTPS for a domain (HSTS).')
    .argument('<host>', 'such as go.example.com')
    .argument(
      '<seconds>',
      `for how long after each visit; 0 ends it in browsers that visit again, "${OFF}" sends no header`,
      parseSeconds,
    )
    .option('--workspace <name>', 'the workspace of the domain; required if several have added it')
    .option('--json', 'print JSON')
    .addHelpText('after', example('domain hsts go.example.com 31536000'))
    .action(async (host: string, seconds: number | null, options: Options) => {
      const { domain, hstsMaxAge } = await withDomains(async (tools) => {
        const { workspace_id, id } = await findClaim(tools, host, options.workspace)
        return tools.https.setHsts(commandLine(workspace_id), id, seconds)
      })
      const { id, host: changed } = domain
      const shown = { id, domain: changed, unicode_domain: displayHost(changed) }
      if (options.json) terminal.out(plainJson({ ...shown, hsts_max_age: hstsMaxAge }))
      else terminal.err(`${formatHost(changed)} ${outcome(hstsMaxAge)}.`)
    })
}

function outcome(maxAgeSeconds: number | null): string {
  if (maxAgeSeconds === null) return 'sends no HSTS header'
  if (maxAgeSeconds === 0) return 'sends an HSTS header that ends HSTS in browsers'
  return `sends an HSTS header: browsers use only HTTPS for ${maxAgeSeconds} seconds after each visit`
}

function parseSeconds(text: string): number | null {
  if (text === OFF) return null
  if (!/^\d{1,9}$/.test(text)) {
    throw new InvalidArgumentError(`It must be a whole number of seconds, or "${OFF}".`)
  }
  return Number(text)
}
