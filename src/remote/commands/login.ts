import { Command } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import {
  type Login,
  loginFile,
  parseServiceUrl,
  RemoteFault,
  removeLogin,
  saveLogin,
} from '../login-file.ts'

export function loginCommand(terminal: Terminal): Command {
  return new Command('login')
    .description('Save where a service is, and a token for it, for link, stats and others.')
    .argument('<url>', 'the address of the service, such as https://go.example.com')
    .option('--plain-http', 'send the token over plain HTTP, where others can read it')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nThe token is read from a prompt, or from standard input.')
    .addHelpText('after', example('login https://go.example.com'))
    .action(async (text: string, options: { plainHttp?: true; json?: true }) => {
      const url = parseServiceUrl(text, options.plainHttp ?? false)
      const token = await terminal.readSecret(`Token of ${url}: `)
      if (token === '')
        throw new RemoteFault('No token came. Type one, or pipe it in.', 'unauthorized')
      await check({ url, token })
      const file = saveLogin({ url, token })
      if (options.json) terminal.out(plainJson({ url, file }))
      else terminal.err(`You are logged in to ${url}. The token is in ${file}.`)
    })
}

export function logoutCommand(terminal: Terminal): Command {
  return new Command('logout')
    .description('Forget the saved token. It stays valid until it is revoked.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('logout'))
    .action((options: { json?: true }) => {
      const file = loginFile()
      if (!removeLogin()) {
        throw new RemoteFault(`Nobody is logged in: there is no ${file}.`, 'unauthorized')
      }
      if (options.json) terminal.out(plainJson({ file }))
      else terminal.err(`The token is forgotten. To revoke it: ${terseCommand('token revoke ID')}`)
    })
}

/** A token that may not read links is valid, too. */
async function check(login: Login): Promise<void> {
  const { ApiClient } = await import('../api-client.ts')
  const { usageSchema } = await import('@terse/contract/usage')
  try {
    await new ApiClient(login).get('/usage', usageSchema)
  } catch (error) {
    if (!(error instanceof RemoteFault) || error.code !== 'missing_scope') throw error
  }
}
