import type { RuleSetResource } from '@terse/contract/rule-sets'
import { Command } from 'commander'
import { example } from '../../platform/cli/options.ts'
import {
  confirmDeletion,
  formatTable,
  plainJson,
  plainText,
  type Terminal,
} from '../../platform/cli/terminal.ts'
import type { ApiClient } from '../api-client.ts'
import { RemoteFault } from '../login-file.ts'
import { openRemote } from '../open-remote.ts'
import { printRules, readRules } from './rules.ts'

const PATH = '/rule-sets'
const PER_PAGE = 100
const SET = ['<set>', 'its name in any letter case, or its ID'] as const
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

type Output = { readonly json?: true }

export function ruleSetsCommand(terminal: Terminal): Command {
  const command = new Command('rule-sets')
    .description('Show or change the rule sets of the workspace, which several links use at once.')
    .addHelpText('after', example('rule-sets list', 'rule-sets set Shops rules.json'))
  command
    .command('list')
    .description('List the sets by name, with how many links and domains use each.')
    .option('--json', 'print JSON')
    .action(async ({ json }: Output) => {
      const { client } = await openRemote()
      const sets = await listSets(client, { include: 'used_by' })
      if (json) terminal.out(plainJson(sets))
      else if (sets.length === 0) terminal.out('There are no rule sets.')
      else {
        const rows = sets.map(({ name, rules, used_by: uses }) =>
          [name, rules.length, uses?.links ?? '', uses?.domains ?? ''].map(String),
        )
        terminal.out(formatTable(['NAME', 'RULES', 'LINKS', 'DOMAINS'], rows))
      }
    })
  command
    .command('show')
    .description('Show the rules of a set.')
    .argument(...SET)
    .option('--json', 'print JSON, which "rule-sets set" takes')
    .action(async (text: string, { json }: Output) => {
      const { client } = await openRemote()
      print(terminal, await findSet(client, text), json)
    })
  addChanges(terminal, command)
  return command
}

function addChanges(terminal: Terminal, command: Command): void {
  command
    .command('set')
    .description('Replace all rules of a set, for all that use it; one of a new name is created.')
    .argument(...SET)
    .argument(
      '<file>',
      'JSON as "rule-sets show --json" or "rules --json" prints it; - for standard input',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('rule-sets set Shops rules.json'))
    .action(async (text: string, file: string, { json }: Output) => {
      const { client } = await openRemote()
      const { ruleSetSchema } = await import('@terse/contract/rule-sets')
      const { rules } = Object(readRules(file)) as { rules?: unknown }
      const found = await lookForSet(client, text)
      const set = found
        ? await client.patch(`${PATH}/${found.id}`, ruleSetSchema, { rules: rules ?? null })
        : await client.post(PATH, ruleSetSchema, { name: text, rules: rules ?? null })
      print(terminal, set, json)
    })
  command
    .command('rename')
    .description('Give a set another name. What uses it goes on using it.')
    .argument(...SET)
    .argument('<name>', 'its new name')
    .option('--json', 'print JSON')
    .action(async (text: string, name: string, { json }: Output) => {
      const { client } = await openRemote()
      const { ruleSetSchema } = await import('@terse/contract/rule-sets')
      const { id } = await findSet(client, text)
      const set = await client.patch(`${PATH}/${id}`, ruleSetSchema, { name })
      if (json) terminal.out(plainJson(set))
      else terminal.err(`It is called ${plainText(set.name)}.`)
    })
  command
    .command('delete')
    .description('Delete a set that nothing uses. This cannot be undone.')
    .argument(...SET)
    .option('--yes', 'delete without a question; needed outside a terminal')
    .option('--json', 'print the deleted set as JSON')
    .action(async (text: string, options: Output & { readonly yes?: true }) => {
      const { client } = await openRemote()
      const { ruleSetDeleted } = await import('@terse/contract/rule-sets')
      const set = await findSet(client, text)
      const name = plainText(set.name)
      await confirmDeletion(terminal, `the rule set ${name}`, options.yes ?? false)
      await client.delete(`${PATH}/${set.id}`, ruleSetDeleted)
      if (options.json) terminal.out(plainJson(set))
      else terminal.err(`The rule set ${name} is deleted.`)
    })
}

function print(terminal: Terminal, set: RuleSetResource, json: true | undefined): void {
  if (json) terminal.out(plainJson(set))
  else printRules(terminal, set)
}

async function listSets(client: ApiClient, included: { readonly include?: 'used_by' } = {}) {
  const { ruleSetPage } = await import('@terse/contract/rule-sets')
  const sets = []
  for (let page = 1, last = 1; page <= last; page += 1) {
    const query = { page, per_page: PER_PAGE, ...included }
    const { data, meta } = await client.get(PATH, ruleSetPage, query)
    sets.push(...data)
    last = meta.last_page
  }
  return sets
}

/**
 * Finds a rule set by its identifier, or by its name in any letter case.
 *
 * @throws {RemoteFault} where there is none
 */
export async function findSet(client: ApiClient, text: string): Promise<RuleSetResource> {
  const found = await lookForSet(client, text)
  if (found !== undefined) return found
  throw new RemoteFault(`There is no rule set ${text} in this workspace.`, 'not_found')
}

async function lookForSet(client: ApiClient, text: string): Promise<RuleSetResource | undefined> {
  if (UUID.test(text)) {
    const { ruleSetSchema } = await import('@terse/contract/rule-sets')
    return client.get(`${PATH}/${text}`, ruleSetSchema)
  }
  const wanted = text.normalize('NFC').toLowerCase()
  return (await listSets(client)).find(({ name }) => name.toLowerCase() === wanted)
}
