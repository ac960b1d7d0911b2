import { domainToASCII } from 'node:url'
import type { DomainSettingsResource } from '@terse/contract/domain-settings'
import { UTM_FIELDS } from '@terse/contract/link-fields'
import { Command, Option } from 'commander'
import { collectAmong, example } from '../../platform/cli/options.ts'
import { plainJson, plainText, type Terminal } from '../../platform/cli/terminal.ts'
import type { ApiClient } from '../api-client.ts'
import { RemoteFault } from '../login-file.ts'
import { openRemote } from '../open-remote.ts'
import { findSet } from './rule-sets.ts'
import { readJson } from './rules.ts'

const DOCUMENTS = ['apple_app_site_association', 'assetlinks'] as const
/** Settings that `--clear` takes away. */
const CLEARED: readonly string[] = [
  'root_url',
  'robots',
  ...UTM_FIELDS,
  'rule_set',
  'track_conversions',
  ...DOCUMENTS,
]

type Options = {
  readonly json?: true
  readonly clear?: readonly string[]
  readonly ruleSet?: string
} & Readonly<Record<string, unknown>>

export function domainSettingsCommand(terminal: Terminal): Command {
  const command = new Command('settings')
    .description('Show or change what a domain does besides its links, over the API.')
    .argument('<host>', 'such as go.example.com')
    .option('--root-url <url>', 'where visits to the bare host go')
    .addOption(
      new Option('--robots <policy>', 'what search engines may do').choices([
        'noindex',
        'index',
        'disallow',
      ]),
    )
  for (const field of UTM_FIELDS) {
    command.option(`${optionOf(field)} <value>`, 'for destinations without this parameter')
  }
  return command
    .option('--rule-set <set>', 'the name or ID of the rule set that is tried last')
    .addOption(
      new Option('--track-conversions <choice>', 'whether destinations get a token').choices([
        'on',
        'off',
      ]),
    )
    .option('--apple-app-site-association <file>', 'JSON for apps of Apple; - for standard input')
    .option('--assetlinks <file>', 'JSON for apps of Android; - for standard input')
    .option('--clear <setting>', `remove a setting: ${CLEARED.join(', ')}`, collectAmong(CLEARED))
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      example('domain settings go.example.com --root-url https://example.com/ --rule-set Shops'),
    )
    .action(async (host: string, options: Options) => {
      const { client } = await openRemote()
      const { domainSettingsSchema } = await import('@terse/contract/domain-settings')
      const path = `/domains/${await findDomainId(client, host)}/settings`
      const { value: before, version } = await client.getVersioned(path, domainSettingsSchema)
      const changes = await changesOf(client, options, before)
      // The UTM values are sent with those that were there.
      const expected = changes.utm === undefined ? undefined : version
      const shown =
        Object.keys(changes).length === 0
          ? before
          : await client.patch(path, domainSettingsSchema, changes, expected)
      if (options.json) terminal.out(plainJson(shown))
      else terminal.out(textOf(shown))
    })
}

async function findDomainId(client: ApiClient, host: string): Promise<string> {
  const { domainPage } = await import('@terse/contract/domains')
  const { data } = await client.get('/domains', domainPage, { domain: host })
  const found = data.find(({ domain }) => domain === domainToASCII(host))
  if (found !== undefined) return found.id
  throw new RemoteFault(`There is no domain ${host} in this workspace.`, 'not_found')
}

async function changesOf(
  client: ApiClient,
  { clear = [], ruleSet, ...options }: Options,
  before: DomainSettingsResource,
): Promise<Readonly<Record<string, unknown>>> {
  const given = (field: string) => options[propertyOf(field)]
  const changes: Record<string, unknown> = {}
  for (const field of clear) if (!isUtm(field)) changes[field] = null
  for (const field of ['root_url', 'robots']) {
    if (given(field) !== undefined) changes[field] = given(field)
  }
  const utm = UTM_FIELDS.filter((field) => given(field) !== undefined || clear.includes(field))
  // The API replaces all values at once.
  if (utm.length > 0) {
    const values = utm.map((field) => [field, given(field) ?? null])
    changes.utm = { ...before.utm, ...Object.fromEntries(values) }
  }
  if (ruleSet !== undefined) changes.rule_set = (await findSet(client, ruleSet)).id
  const tracks = given('track_conversions')
  if (tracks !== undefined) changes.track_conversions = tracks === 'on'
  for (const field of DOCUMENTS) {
    const file = given(field)
    if (typeof file === 'string') changes[field] = readJson(file)
  }
  return changes
}

function isUtm(field: string): boolean {
  return (UTM_FIELDS as readonly string[]).includes(field)
}

function optionOf(field: string): string {
  return `--${field.replaceAll('_', '-')}`
}

/** The name of the property in which Commander gives an option. */
function propertyOf(field: string): string {
  return field.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

function textOf({
  utm,
  domain,
  managed_at,
  updated_at,
  ...settings
}: DomainSettingsResource): string {
  const set = Object.entries({ ...settings, ...utm }).filter(([, value]) => value !== null)
  if (set.length === 0) return plainText(`${domain} has the settings of a new domain.`)
  const lines = set.map(([name, value]) =>
    plainText(`${name}  ${typeof value === 'string' ? value : JSON.stringify(value)}`),
  )
  return lines.join('\n')
}
