import type { LinkResource } from '@terse/contract/links'
import { Command, InvalidArgumentError, Option } from 'commander'
import { example, ListedOption } from '../../platform/cli/options.ts'
import {
  confirmDeletion,
  formatTable,
  plainJson,
  plainText,
  type Terminal,
} from '../../platform/cli/terminal.ts'
import type { ApiClient } from '../api-client.ts'
import { openRemote, type Remote } from '../open-remote.ts'
import { findPendingNote } from '../pending-domain.ts'
import { RemoteFault } from '../remote-fault.ts'
import {
  addClearOption,
  addLinkOptions,
  type LinkOptions,
  linkBody,
  tagOption,
} from './link-options.ts'
import { addQr } from './link-qr.ts'

const LIMIT_DEFAULT = 50
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
  readonly limit: number
}

const LINK = ['<link>', 'its short link, its key on the service’s own host, or its ID'] as const

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
      const body = { domain: ownHost, ...(await linkBody(terminal, options)), url }
      const link = await client.post('/links', linkSchema, body)
      terminal.out(options.json ? plainJson(link) : plainText(addressOf(link)))
      await notePending(terminal, remote, link)
    })
}

function addList(command: Command, terminal: Terminal): void {
  command
    .command('list')
    .description('List links, the newest first.')
    .option('--search <text>', 'those whose key, destination or tag contains this')
    .addOption(new ListedOption('--domain <host>', 'those on this domain', 'domains'))
    .addOption(tagOption('those with this tag; several times: with all of them'))
    .addOption(
      new Option('--state <state>', 'those in this state').choices([
        'active',
        'expired',
        'protected',
      ]),
    )
    .option('--limit <number>', 'how many to list', parseLimit, LIMIT_DEFAULT)
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
      const { find } = await openRemote()
      const link = await find(text)
      terminal.out(options.json ? plainJson(link) : describe(link))
    })
}

function addUpdate(command: Command, terminal: Terminal): void {
  const update = command
    .command('update')
    .description('Change the given fields of a link.')
    .argument(...LINK)
    .option('--url <url>', 'the destination')
  addClearOption(addLinkOptions(update))
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      example('link update spring --url https://example.com/summer --clear tags'),
    )
    .action(async (text: string, options: LinkOptions & Output) => {
      const remote = await openRemote()
      const { client, find } = remote
      const body = await linkBody(terminal, options)
      if (Object.keys(body).length === 0) {
        throw new RemoteFault('Say what to change, such as --url.', 'validation_failed')
      }
      const { linkSchema } = await import('@terse/contract/links')
      const { id } = await find(text)
      const link = await client.patch(`/links/${id}`, linkSchema, body)
      terminal.out(options.json ? plainJson(link) : describe(link))
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
  const { search, domain, tag, state, limit } = options
  const links: LinkResource[] = []
  let cursor: string | null | undefined = ''
  while (links.length < limit && typeof cursor === 'string') {
    const per_page = Math.min(PER_PAGE_MAX, limit - links.length)
    const query = { search, domain, tag, state, per_page, cursor }
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

/** The fields that have a value, a line each. */
function describe({ password, last_click, tags, ...link }: LinkResource): string {
  const fields: Record<string, unknown> = {
    ...link,
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

function parseLimit(text: string): number {
  const limit = Number(text)
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= 100_000) return limit
  throw new InvalidArgumentError('It must be a whole number from 1 to 100000.')
}
