import type { Role } from '@terse/contract/roles'
import { Argument, Command } from 'commander'
import { example, type RunWith } from '../../platform/cli/options.ts'
import { formatTable, plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import { type Actor, commandLine } from '../actor.ts'
import { presentMember } from '../members/present.ts'
import { ROLES } from '../members/role.ts'
import type { PeopleServices } from './people-services.ts'

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
