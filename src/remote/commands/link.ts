import {
  fromFields,
  LINK_DOES,
  type LinkText,
  NO_OPTIONS,
  type LinkOptions as Options,
  PATH_MODES,
  QUERY_MODES,
  UTM_FIELDS,
} from '@terse/contract/link-fields'
import type { IncludingLink, LinkResource } from '@terse/contract/links'
import { Command, InvalidArgumentError, Option } from 'commander'
import {
  collect,
  collectAmong,
  example,
  ListedOption,
  parseUpTo,
} from '../../platform/cli/options.ts'
import {
  confirmDeletion,
  formatTable,
  plainJson,
  plainText,
  type Terminal,
} from '../../platform/cli/terminal.ts'
import type { ApiClient } from '../api-client.ts'
import { RemoteFault } from '../login-file.ts'
import { findPendingNote, LINK, openRemote, type Remote } from '../open-remote.ts'
import { addExamples } from './link-examples.ts'
import { addHistory, addRevert } from './link-history.ts'
import { addPreview } from './link-preview.ts'
import { addQr } from './link-qr.ts'
import { findSet } from './rule-sets.ts'
import { withOption } from './rules.ts'
import { addVariants } from './stats.ts'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 100_000
const PER_PAGE_MAX = 100

type LinkPage = {
  readonly data: LinkResource[]
  readonly meta: { next_cursor?: string | null | undefined }
}

type Output = { readonly json?: true }
type ListOptions = Output & {
  readonly search?: string
  readonly domain?: string
  readonly tag?: readonly string[]
  readonly state?: string
  readonly does?: string
  readonly managedBy?: string
  readonly archived?: true
  readonly limit: number
}

export function linkCommand(terminal: Terminal): Command {
  const command = new Command('link')
    .description('Create, find and change links of the service that you are logged in to.')
    .addHelpText('after', example('link create https://example.com/sale --key spring'))
  addCreate(command, terminal)
  addList(command, terminal)
  addShow(command, terminal)
  addUpdate(command, terminal)
  addDelete(command, terminal)
  addQr(command, terminal)
  addPreview(command, terminal)
  addExamples(command, terminal)
  addVariants(command, terminal)
  addHistory(command, terminal)
  addRevert(command, terminal)
  return command
}

function addCreate(command: Command, terminal: Terminal): void {
  const create = command
    .command('create')
    .description('Create a link and print the address at which it opens.')
    .argument('<url>', 'the destination')
  addLinkOptions(create)
    .option('--json', 'print JSON')
    .addHelpText('after', example('link create https://example.com/sale --key spring --tag sale'))
    .action(async (url: string, options: LinkOptions & Output) => {
      const remote = await openRemote()
      const { client, ownHost, addressOf } = remote
      const { linkSchema } = await import('@terse/contract/links')
      const body = { domain: ownHost, ...(await linkBody(terminal, client, options)), url }
      const link = await client.post('/links', linkSchema, body)
      terminal.out(options.json ? plainJson(link) : plainText(addressOf(link)))
      await notePending(terminal, remote, link)
    })
}

function addList(command: Command, terminal: Terminal): void {
  command
    .command('list')
    .description('List links, the newest first.')
    .option('--search <text>', 'those whose key, destination, tag or notes contain this')
    .addOption(new ListedOption('--domain <host>', 'those on this domain', 'domains'))
    .addOption(tagOption('those with this tag; several times: with all of them'))
    .addOption(
      new Option('--state <state>', 'those in this state').choices([
        'active',
        'expired',
        'protected',
      ]),
    )
    .option('--does <words>', `those that do all of this: ${LINK_DOES.join(', ')}`)
    .option('--managed-by <set>', 'those that this set of links as code manages')
    .option('--archived', 'archived links, which are left out otherwise')
    .option('--limit <number>', 'how many to list', parseUpTo(LIMIT_MAX), LIMIT_DEFAULT)
    .option('--json', 'print JSON')
    .addHelpText('after', example('link list --tag sale --json'))
    .action(async (options: ListOptions) => {
      const { client } = await openRemote()
      const links = await listLinks(client, options)
      terminal.out(options.json ? plainJson(links) : tableOf(links))
    })
}

function addShow(command: Command, terminal: Terminal): void {
  command
    .command('show')
    .description('Show everything about a link.')
    .argument(...LINK)
    .option('--json', 'print JSON')
    .addHelpText('after', example('link show go.example.com/spring'))
    .action(async (text: string, options: Output) => {
      const { client, find } = await openRemote()
      const link = await withItsOptions(client, await find(text))
      terminal.out(options.json ? plainJson(link) : describe(link))
    })
}

function addUpdate(command: Command, terminal: Terminal): void {
  const update = command
    .command('update')
    .description('Change the given fields of a link.')
    .argument(...LINK)
    .option('--url <url>', 'the destination')
    .option('--accept-changes', 'also if it changes where examples of the link lead')
  addClearOption(addLinkOptions(update))
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      example('link update spring --url https://example.com/summer --clear tags'),
    )
    .action(async (text: string, options: UpdateOptions) => {
      const remote = await openRemote()
      const { client, find } = remote
      const body = await linkBody(terminal, client, options)
      if (Object.keys(body).length === 0) {
        throw new RemoteFault('Say what to change, such as --url.', 'validation_failed')
      }
      const { linkSchema } = await import('@terse/contract/links')
      const { id } = await find(text)
      const query = options.acceptChanges ? '?accept_changes=true' : ''
      const link = await client.patch(`/links/${id}${query}`, linkSchema, body).catch((error) => {
        throw withOption(error)
      })
      terminal.out(options.json ? plainJson(link) : describe(await withItsOptions(client, link)))
      if (options.domain !== undefined) await notePending(terminal, remote, link)
    })
}

function addDelete(command: Command, terminal: Terminal): void {
  command
    .command('delete')
    .description('Delete a link. This cannot be undone.')
    .argument(...LINK)
    .option('--yes', 'delete without a question; needed outside a terminal')
    .option('--json', 'print the deleted link as JSON')
    .addHelpText('after', example('link delete spring'))
    .action(async (text: string, options: Output & { readonly yes?: true }) => {
      const { client, find, addressOf } = await openRemote()
      const { linkDeleted } = await import('@terse/contract/links')
      const link = await find(text)
      const address = plainText(addressOf(link))
      const what = `${address}, which leads to ${plainText(link.url)}`
      await confirmDeletion(terminal, what, options.yes ?? false)
      await client.delete(`/links/${link.id}`, linkDeleted)
      if (options.json) terminal.out(plainJson(link))
      else terminal.err(`${address} is deleted.`)
    })
}

/** On standard error: what a program reads stays the link alone. */
async function notePending(terminal: Terminal, remote: Remote, link: LinkResource): Promise<void> {
  const note = await findPendingNote(remote, link)
  if (note !== undefined) terminal.err(note)
}

async function listLinks(client: ApiClient, options: ListOptions): Promise<LinkResource[]> {
  const { linkPage } = await import('@terse/contract/links')
  const { search, domain, tag, state, does, managedBy: managed_by, limit } = options
  const archived = options.archived && 'true'
  const links: LinkResource[] = []
  let cursor: string | null | undefined = ''
  while (links.length < limit && typeof cursor === 'string') {
    const per_page = Math.min(PER_PAGE_MAX, limit - links.length)
    const filters = { search, domain, tag, state, does, managed_by, archived }
    const query = { ...filters, per_page, cursor }
    const page: LinkPage = await client.get('/links', linkPage, query)
    links.push(...page.data)
    cursor = page.meta.next_cursor
  }
  return links
}

function tableOf(links: readonly LinkResource[]): string {
  return formatTable(
    ['LINK', 'DESTINATION', 'CLICKS', 'TAGS', 'CREATED'],
    links.map(({ domain, key, url, clicks, tags, created_at }) => [
      `${domain}/${key}`,
      url,
      String(clicks ?? 0),
      tags.join(', '),
      created_at.slice(0, 10),
    ]),
  )
}

async function withItsOptions(client: ApiClient, { id }: LinkResource): Promise<IncludingLink> {
  const { includingLinkSchema } = await import('@terse/contract/links')
  return client.get(`/links/${id}`, includingLinkSchema, { include: 'options' })
}

/** The fields and options that have a value, a line each. */
function describe({ password, last_click, tags, ...rest }: IncludingLink): string {
  const { options = NO_OPTIONS, rule_count: rules, split_count: _, ...link } = rest
  const usual: Readonly<Record<string, unknown>> = NO_OPTIONS
  const set = Object.entries(options).filter(([name, value]) => value !== usual[name])
  const fields: Record<string, unknown> = {
    ...link,
    ...Object.fromEntries(set),
    rules: rules === 0 ? null : rules,
    tags: tags.join(', '),
    last_click: last_click === null ? null : new Date(last_click * 1_000).toISOString(),
    password: password === null ? null : 'set',
  }
  const rows = Object.entries(fields).filter(([, value]) => value !== null && value !== '')
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows
    .map(([name, value]) => `${name.padEnd(width)}  ${plainText(String(value))}`)
    .join('\n')
}

/** The options of a link's texts; a password is read from the terminal. */
const TEXT_OPTIONS: {
  readonly [F in Exclude<LinkText, 'password'>]: {
    readonly flags: string
    readonly description: string
  }
} = {
  expires_at: {
    flags: '--expires <instant>',
    description: 'when it ends, such as 2027-01-01T00:00:00Z',
  },
  expired_redirect_url: {
    flags: '--expired-url <url>',
    description: 'the destination after that',
  },
  ios: { flags: '--ios <url>', description: 'the destination of iPhones and iPads' },
  android: { flags: '--android <url>', description: 'the destination of Android devices' },
  ...fromFields(UTM_FIELDS, (field) => ({
    flags: `--${field.replace('_', '-')} <text>`,
    description: `${field} of the destination`,
  })),
}

const TEXT_FIELDS = Object.keys(TEXT_OPTIONS) as (keyof typeof TEXT_OPTIONS)[]

/** Options of a link that hold text or a number. */
const OPTION_FIELDS = [
  'active_from',
  'max_clicks',
  'notes',
  'title',
  'description',
  'image',
  'path',
  'query',
  'rule_set',
] as const satisfies (keyof Options)[]

/** The options that set a field of a link, as commander names them; those of `TEXT_OPTIONS` are further texts. */
type LinkOptions = {
  readonly domain?: string
  readonly key?: string
  readonly url?: string
  readonly tag?: readonly string[]
  readonly externalId?: number
  readonly password?: true
  readonly activeFrom?: string
  readonly maxClicks?: number
  readonly notes?: string
  readonly title?: string
  readonly description?: string
  readonly image?: string
  readonly path?: string
  readonly query?: string
  readonly ruleSet?: string
  readonly archive?: boolean
  readonly trackConversions?: 'on' | 'off'
  readonly unarchive?: true
  readonly preventDelete?: boolean
  readonly clear?: readonly string[]
}

type UpdateOptions = LinkOptions & Output & { readonly acceptChanges?: true }

/** Fields that `--clear` sets to null. */
const CLEARED: readonly string[] = [
  'tags',
  ...TEXT_FIELDS,
  'external_id',
  'password',
  ...OPTION_FIELDS,
  'managed_by',
]

function addLinkOptions(command: Command): Command {
  command
    .addOption(
      new ListedOption(
        '--domain <host>',
        'its domain; that of the service if not given',
        'domains',
      ),
    )
    .option('--key <key>', 'the path of the short link')
    .addOption(tagOption('a tag; give it several times for several'))
  for (const field of TEXT_FIELDS) command.addOption(textOption(field))
  return command
    .option('--active-from <instant>', 'when it begins, such as 2026-12-01T08:00:00Z')
    .option('--max-clicks <number>', 'how many clicks of people it takes', parseInteger)
    .option('--notes <text>', 'what its owners should know; visitors never see it')
    .option('--title <text>', 'the title that messengers and networks show of it')
    .option('--description <text>', 'the text that they show below the title')
    .option('--image <url>', 'the https address of the picture that they show')
    .addOption(
      new Option('--path <mode>', 'what it does with the path behind its key').choices(PATH_MODES),
    )
    .addOption(
      new Option('--query <mode>', 'what becomes of the visitor’s query').choices(QUERY_MODES),
    )
    .addOption(
      new Option('--track-conversions <choice>', 'whether destinations get a token').choices([
        'on',
        'off',
      ]),
    )
    .option('--rule-set <set>', 'the name or ID of the rule set that is tried after its own rules')
    .option('--archive', 'leave it out of lists; it redirects all the same')
    .addOption(new Option('--unarchive', 'list it again').conflicts('archive'))
    .option('--prevent-delete', 'refuse to delete it')
    .option('--no-prevent-delete', 'let it be deleted')
    .option('--external-id <number>', 'its number in another system', parseInteger)
    .option('--password', 'protect it by a password, read from a prompt or from standard input')
}

function textOption(field: keyof typeof TEXT_OPTIONS): Option {
  const { flags, description } = TEXT_OPTIONS[field]
  return new Option(flags, description)
}

function addClearOption(command: Command): Command {
  return command.option(
    '--clear <field>',
    `remove a value: ${CLEARED.join(', ')}`,
    collectAmong(CLEARED),
  )
}

/** Returns the fields of a request: those that were given. Reads the password. */
async function linkBody(
  terminal: Terminal,
  client: ApiClient,
  options: LinkOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const texts: Readonly<Record<string, unknown>> = options
  const given: Record<string, unknown> = {
    domain: options.domain,
    key: options.key,
    url: options.url,
    tags: options.tag,
    ...fromFields(TEXT_FIELDS, (field) => texts[textOption(field).attributeName()]),
    external_id: options.externalId,
    active_from: options.activeFrom,
    max_clicks: options.maxClicks,
    notes: options.notes,
    title: options.title,
    description: options.description,
    image: options.image,
    path: options.path,
    query: options.query,
    track_conversions: options.trackConversions && options.trackConversions === 'on',
    rule_set: options.ruleSet && (await findSet(client, options.ruleSet)).id,
    prevent_delete: options.preventDelete,
    archived: options.archive ? true : options.unarchive && false,
  }
  if (options.password) given.password = await terminal.readSecret('Password of the link: ')
  for (const field of options.clear ?? []) given[field] = null
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

function tagOption(description: string): Option {
  return new ListedOption('--tag <tag>', description, 'tags').argParser(collect)
}

function parseInteger(text: string): number {
  const number = Number(text)
  if (text.trim() !== '' && Number.isSafeInteger(number)) return number
  throw new InvalidArgumentError('It must be a whole number.')
}
