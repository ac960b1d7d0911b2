import { Command, InvalidArgumentError, Option } from 'commander'
import { example, type RunWith } from '../../platform/cli/options.ts'
import { formatTable, plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import { canonicalInstant, formatInstant, INSTANT_MILLIS_MAX } from '../../platform/time/clock.ts'
import { commandLine } from '../actor.ts'
import { isScope, SCOPES, type Scope, USUAL_SCOPES } from '../permissions.ts'
import type { Token } from '../store/token-store.ts'
import type { Tokens } from '../tokens.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'

type CreateOptions = {
  workspace: string
  name: string
  scopes: readonly Scope[]
  admin?: true
  expires?: number
  readonly json?: true
}
type ListOptions = { workspace?: string; json?: true }

type TokenServices = { readonly workspaces: Workspaces; readonly tokens: Tokens }

export function tokenCommand(terminal: Terminal, withServices: RunWith<TokenServices>): Command {
  const command = new Command('token')
    .description('Create, list and revoke API tokens.')
    .addHelpText('after', example('token create --workspace acme'))

  command
    .command('create')
    .description('Create a token and print it, alone, on standard output. It is shown only once.')
    .requiredOption('--workspace <name>', 'its workspace; created when it is not there')
    .option('--name <text>', 'a name to know it by', 'command line')
    .addOption(
      new Option('--scopes <list>', `what it may do, separated by commas: ${SCOPES.join(',')}`)
        .argParser(parseScopes)
        .default(USUAL_SCOPES, 'all but webhooks and workspace:admin'),
    )
    .option('--admin', 'add the scope workspace:admin')
    .option('--expires <instant>', 'when it ends, such as 2027-01-01T00:00:00Z', parseExpiry)
    .option('--json', 'print JSON, with the token as `secret`')
    .addHelpText(
      'after',
      () => `\nExample:\n  TOKEN=$(${terseCommand('token create --workspace acme')})`,
    )
    .action(async (options: CreateOptions) => {
      const { token, secret } = await withServices(async ({ workspaces, tokens }) => {
        const workspace = await workspaces.ensure(commandLine, options.workspace)
        return tokens.create(commandLine(workspace.id), {
          name: options.name,
          scopes: options.admin ? withAdmin(options.scopes) : options.scopes,
          expiresAt: options.expires ?? null,
        })
      })
      terminal.out(options.json ? plainJson({ ...present(token), secret }) : secret)
    })

  command
    .command('list')
    .description('List the tokens of a workspace, or all.')
    .option('--workspace <name>', 'of this workspace alone')
    .option('--json', 'print JSON')
    .addHelpText('after', example('token list --workspace acme'))
    .action(async (options: ListOptions) => {
      const listed = await withServices(async ({ workspaces, tokens }) => {
        const name = options.workspace
        return tokens.list(name === undefined ? undefined : (await workspaces.get(name)).id)
      })
      terminal.out(options.json ? plainJson(listed.map(present)) : table(listed))
      if (!options.json && listed.map(present).some(({ never_expires }) => never_expires)) {
        terminal.err(
          '! never expires: revoke it when it is no longer needed, or replace it by one with --expires.',
        )
      }
    })

  command
    .command('revoke')
    .description('Revoke a token. Running servers refuse it within a second.')
    .argument('<id>', 'its identifier, as `token list` shows it')
    .option('--json', 'print JSON')
    .addHelpText('after', example('token revoke 019aa3c2-5b1e-7c3f-9d55-6f0e6a1b2c3d'))
    .action(async (id: string, options: { json?: true }) => {
      await withServices(({ tokens }) => tokens.revokeAnywhere(commandLine, id))
      if (options.json) terminal.out(plainJson({ id, state: 'revoked' }))
      else terminal.err(`Token ${id} is revoked.`)
    })

  return command
}

function present(token: Token) {
  const instant = (micros: number | null) => (micros === null ? null : formatInstant(micros))
  return {
    ...token,
    created_at: formatInstant(token.created_at),
    expires_at: instant(token.expires_at),
    last_used_at: instant(token.last_used_at),
    revoked_at: instant(token.revoked_at),
    state: stateOf(token),
    never_expires: token.expires_at === null && token.revoked_at === null,
  }
}

function stateOf(token: Token): 'valid' | 'expired' | 'revoked' {
  if (token.revoked_at !== null) return 'revoked'
  return token.expires_at !== null && token.expires_at <= Date.now() * 1_000 ? 'expired' : 'valid'
}

function table(tokens: readonly Token[]): string {
  const rows = tokens
    .map(present)
    .map((token) => [
      token.id,
      token.name,
      token.state,
      token.never_expires ? 'never !' : (token.expires_at ?? 'never'),
      token.last_used_at ?? 'never',
      token.scopes.join(','),
    ])
  return formatTable(['ID', 'NAME', 'STATE', 'EXPIRES', 'LAST USED', 'SCOPES'], rows)
}

function withAdmin(scopes: readonly Scope[]): readonly Scope[] {
  return SCOPES.filter((scope) => scope === 'workspace:admin' || scopes.includes(scope))
}

function parseScopes(text: string): readonly Scope[] {
  return text.split(',').map((part) => {
    const scope = part.trim()
    if (!isScope(scope))
      throw new InvalidArgumentError(`"${scope}" is none of ${SCOPES.join(', ')}.`)
    return scope
  })
}

function parseExpiry(text: string): number {
  const instant = canonicalInstant(text)
  if (instant === undefined) {
    throw new InvalidArgumentError(
      'It must be an instant with a zone, such as 2027-01-01T00:00:00Z.',
    )
  }
  const millis = Date.parse(instant)
  if (millis <= Date.now()) throw new InvalidArgumentError('It lies in the past.')
  if (millis > INSTANT_MILLIS_MAX) {
    throw new InvalidArgumentError('It must be before the year 2255; leave it out for never.')
  }
  return millis * 1_000
}
