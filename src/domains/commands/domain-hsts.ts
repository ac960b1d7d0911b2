import { Command, InvalidArgumentError } from 'commander'
import { formatHost } from '../../hosts/index.ts'
import { commandLine } from '../../identity/index.ts'
import { example } from '../../platform/cli/example.ts'
import type { RunWith } from '../../platform/cli/run-with.ts'
import type { Terminal } from '../../platform/cli/terminal.ts'
import type { DomainTools } from './domain-tools.ts'
import { findClaim } from './find-claim.ts'

const OFF = 'off'

export function hstsCommand(terminal: Terminal, withDomains: RunWith<DomainTools>): Command {
  return new Command('hsts')
    .description('Have browsers use HTTPS alone with a domain (HSTS), or no more.')
    .argument('<host>', 'such as go.example.com')
    .argument(
      '<seconds>',
      `for how long, each visit counting anew; 0 has browsers forget it, "${OFF}" says nothing more`,
      parseSeconds,
    )
    .option('--workspace <name>', 'whose domain it is, where several have added it')
    .addHelpText('after', example('domain hsts go.example.com 31536000'))
    .action(async (host: string, seconds: number | null, options: { workspace?: string }) => {
      const { domain, hstsMaxAge } = await withDomains(async (tools) => {
        const { workspace_id, id } = await findClaim(tools, host, options.workspace)
        return tools.https.setHsts(commandLine(workspace_id), id, seconds)
      })
      terminal.err(`${formatHost(domain.host)} ${outcome(hstsMaxAge)}.`)
    })
}

function outcome(maxAgeSeconds: number | null): string {
  if (maxAgeSeconds === null) return 'says nothing of HTTPS alone'
  if (maxAgeSeconds === 0) return 'has browsers forget that they were to use HTTPS alone'
  return `has browsers use HTTPS alone for ${maxAgeSeconds} seconds after each visit`
}

function parseSeconds(text: string): number | null {
  if (text === OFF) return null
  if (!/^\d{1,9}$/.test(text)) {
    throw new InvalidArgumentError(`It must be a whole number of seconds, or "${OFF}".`)
  }
  return Number(text)
}
