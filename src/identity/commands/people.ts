import type { Role } from '@terse/contract/roles'
import { Argument, Command, Option } from 'commander'
import { example, type RunWith } from '../../platform/cli/options.ts'
import {
  confirmDeletion,
  formatTable,
  plainJson,
  type Terminal,
} from '../../platform/cli/terminal.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import { INSTANCE } from '../../storage/event-log.ts'
import { type Actor, commandLine } from '../actor.ts'
import type { Invitations } from '../members/invitations.ts'
import type { Members } from '../members/members.ts'
import { invitationAddress } from '../one-time-links.ts'
import { type ResetLinks, resetAddress } from '../people/password-resets.ts'
import type { AccountChanges, Accounts } from '../people/people.ts'
import { ROLES } from '../permissions.ts'
import { presentMember } from '../present.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'

type InviteOptions = { readonly workspace: string; readonly role: Role; readonly json?: true }

const operator = commandLine(INSTANCE)

export function personCommand(terminal: Terminal, withServices: RunWith<PeopleServices>): Command {
  const command = new Command('person')
    .description(
      'List, invite, disable and enable people, and change their addresses and passwords.',
    )
    .addHelpText('after', example('person invite grace@example.com --workspace acme'))
  addList(command, terminal, withServices)
  addLinks(command, terminal, withServices)

  const change = (name: string, description: string, changes: AccountChanges, done: string) =>
    command
      .command(name)
      .description(description)
      .argument('<email>', 'the e-mail address of the person')
      .option('--json', 'print JSON')
      .addHelpText('after', example(`person ${name} grace@example.com`))
      .action(async (email: string, options: { json?: true }) => {
        const id = await withServices(async ({ accounts }) => {
          const found = await accounts.getByEmail(email)
          await accounts.change(operator, found.id, changes)
          return found.id
        })
        const { isDisabled, isOperator } = changes
        if (options.json) {
          terminal.out(plainJson({ id, email, is_disabled: isDisabled, is_operator: isOperator }))
        } else terminal.err(`${email} ${done}.`)
      })
  change(
    'disable',
    'End the sessions of a person, and refuse to sign them in.',
    { isDisabled: true },
    'is disabled',
  )
  change('enable', 'Let a disabled person sign in again.', { isDisabled: false }, 'is enabled')
  change(
    'promote',
    'Make a person an operator of the instance.',
    { isOperator: true },
    'operates the instance',
  )
  change(
    'demote',
    'Make an operator of the instance an ordinary person.',
    { isOperator: false },
    'no longer operates the instance',
  )
  addChangeOfEmail(command, terminal, withServices)
  addDelete(command, terminal, withServices)
  return command
}

function addChangeOfEmail(
  command: Command,
  terminal: Terminal,
  withServices: RunWith<PeopleServices>,
): void {
  command
    .command('email')
    .description('Give a person another e-mail address. All sessions of the person end.')
    .argument('<email>', 'the e-mail address of the person')
    .argument('<new-email>', 'the new one')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nPeople change their own in Settings, Profile.')
    .addHelpText('after', example('person email grace@example.com grace@hopper.example'))
    .action(async (email: string, changed: string, options: { json?: true }) => {
      const id = await withServices(async ({ accounts }) => {
        const found = await accounts.getByEmail(email)
        await accounts.changeEmail(operator, found.id, changed)
        return found.id
      })
      if (options.json) terminal.out(plainJson({ id, email: changed, is_email_proved: false }))
      else terminal.err(`${email} is ${changed} from now on.`)
    })
}

function addDelete(
  command: Command,
  terminal: Terminal,
  withServices: RunWith<PeopleServices>,
): void {
  command
    .command('delete')
    .description('Delete a person, who is signed out everywhere. This cannot be undone.')
    .argument('<email>', 'the e-mail address of the person')
    .option('--yes', 'delete without a question; needed outside a terminal')
    .option('--json', 'print JSON')
    .addHelpText('after', example('person delete grace@example.com'))
    .action(async (email: string, options: { yes?: true; json?: true }) => {
      const id = await withServices(async ({ accounts }) => {
        const found = await accounts.getByEmail(email)
        await confirmDeletion(terminal, `the account of ${email}`, options.yes ?? false)
        await accounts.delete(operator, found.id)
        return found.id
      })
      if (options.json) terminal.out(plainJson({ id, email }))
      else terminal.err(`${email} is deleted. Within 30 days nothing names the person any more.`)
    })
}

function addList(
  command: Command,
  terminal: Terminal,
  withServices: RunWith<PeopleServices>,
): void {
  command
    .command('list')
    .description('List everyone with an account.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('person list --json'))
    .action(async (options: { json?: true }) => {
      const accounts = await withServices((services) => services.accounts.list())
      const rows = accounts.map(({ person, lastSeenAt }) => ({
        id: person.id,
        email: person.email,
        name: person.name,
        is_operator: person.is_operator,
        is_email_proved: person.email_proved_at !== null,
        is_disabled: person.disabled_at !== null,
        created_at: formatInstant(person.created_at),
        last_seen_at: lastSeenAt === null ? null : formatInstant(lastSeenAt),
      }))
      terminal.out(options.json ? plainJson(rows) : table(rows))
    })
}

function addLinks(
  command: Command,
  terminal: Terminal,
  withServices: RunWith<PeopleServices>,
): void {
  command
    .command('invite')
    .description('Print a link that makes a person a member. It works once, for seven days.')
    .argument('<email>', 'the e-mail address of the person')
    .requiredOption('--workspace <name>', 'the workspace')
    .addOption(new Option('--role <role>', 'the role').choices(ROLES).default('member'))
    .option('--json', 'print JSON')
    .addHelpText('after', example('person invite grace@example.com --workspace acme --role admin'))
    .action(async (email: string, options: InviteOptions) => {
      const address = await withServices(async ({ workspaces, invitations, baseUrl }) => {
        const { id } = await workspaces.get(options.workspace)
        const given = { email, role: options.role }
        const { code } = await invitations.create(commandLine(id), given)
        return invitationAddress(baseUrl, code)
      })
      terminal.out(options.json ? plainJson({ url: address }) : address)
    })

  command
    .command('reset')
    .description(
      'Print a link with which a person sets a new password. It works once, for 24 hours.',
    )
    .argument('<email>', 'the e-mail address of the person')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nPasskeys and accounts of single sign-on that the person does not confirm with the new password are removed; an authenticator app stays.',
    )
    .addHelpText('after', example('person reset grace@example.com'))
    .action(async (email: string, options: { json?: true }) => {
      const address = await withServices(async ({ accounts, resetLinks, baseUrl }) => {
        const { id } = await accounts.getByEmail(email)
        const { code } = await resetLinks.create(operator, id)
        return resetAddress(baseUrl, code)
      })
      terminal.out(options.json ? plainJson({ url: address }) : address)
    })
}

type Row = {
  readonly email: string
  readonly name: string
  readonly is_operator: boolean
  readonly is_disabled: boolean
  readonly last_seen_at: string | null
}

function table(rows: readonly Row[]): string {
  return formatTable(
    ['E-MAIL', 'NAME', 'STATE', 'LAST SEEN'],
    rows.map((row) => [row.email, row.name, stateOf(row), row.last_seen_at ?? 'never']),
  )
}

function stateOf({ is_disabled, is_operator }: Row): string {
  if (is_disabled) return 'disabled'
  return is_operator ? 'operator' : 'active'
}

type Options = { readonly workspace: string; readonly json?: true }

export function memberCommand(terminal: Terminal, withServices: RunWith<PeopleServices>): Command {
  const command = new Command('member')
    .description('List the members of a workspace, change their roles and remove them.')
    .addHelpText('after', example('member list --workspace acme'))

  command
    .command('list')
    .description('List the members of a workspace.')
    .requiredOption('--workspace <name>', 'the workspace')
    .option('--json', 'print JSON')
    .addHelpText('after', example('member list --workspace acme --json'))
    .action(async (options: Options) => {
      const members = await withServices(async (services) => {
        const actor = await actorIn(services, options)
        return (await services.members.list(actor)).map(presentMember)
      })
      terminal.out(
        options.json
          ? plainJson(members)
          : formatTable(
              ['E-MAIL', 'NAME', 'ROLE', 'SECOND FACTOR', 'LAST SEEN'],
              members.map((member) => [
                member.email,
                member.name,
                member.role,
                member.has_second_factor ? 'yes' : 'no',
                member.last_seen_at ?? 'never',
              ]),
            ),
      )
    })

  command
    .command('set-role')
    .description('Change the role of a member. The last owner keeps the role.')
    .argument('<email>', 'the e-mail address of the member')
    .addArgument(new Argument('<role>', 'the new role').choices(ROLES))
    .requiredOption('--workspace <name>', 'the workspace')
    .option('--json', 'print JSON')
    .addHelpText('after', example('member set-role grace@example.com admin --workspace acme'))
    .action(async (email: string, role: Role, options: Options) => {
      await withServices(async (services) => {
        const { id } = await services.accounts.getByEmail(email)
        await services.members.setRole(await actorIn(services, options), id, role)
      })
      const { workspace, json } = options
      if (json) terminal.out(plainJson({ email, workspace, role }))
      else terminal.err(`${email} has the role ${role} in ${workspace}.`)
    })

  command
    .command('remove')
    .description('Remove a member. Tokens that the person created stay valid.')
    .argument('<email>', 'the e-mail address of the member')
    .requiredOption('--workspace <name>', 'the workspace')
    .option('--json', 'print JSON')
    .addHelpText('after', example('member remove grace@example.com --workspace acme'))
    .action(async (email: string, options: Options) => {
      await withServices(async (services) => {
        const { id } = await services.accounts.getByEmail(email)
        await services.members.remove(await actorIn(services, options), id)
      })
      const { workspace, json } = options
      if (json) terminal.out(plainJson({ email, workspace, role: null }))
      else terminal.err(`${email} is no longer a member of ${workspace}.`)
    })

  return command
}

async function actorIn({ workspaces }: PeopleServices, { workspace }: Options): Promise<Actor> {
  return commandLine((await workspaces.get(workspace)).id)
}

/** What the commands about people work with. */
export type PeopleServices = {
  readonly workspaces: Pick<Workspaces, 'get'>
  readonly members: Members
  readonly invitations: Invitations
  readonly accounts: Accounts
  readonly resetLinks: ResetLinks
  readonly baseUrl: string
}
