import type { AttemptResource, WebhookResource } from '@terse/contract/webhooks'
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

const PATH = '/webhooks'
const PER_PAGE = 100
const WEBHOOK = ['<webhook>', 'its name in any letter case, or its ID'] as const
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

type Output = { readonly json?: true }
type Settings = Output & {
  readonly name?: string
  readonly url?: string
  readonly events?: readonly string[]
  readonly domain?: readonly string[]
  readonly tag?: readonly string[]
  readonly ordered?: boolean
}

export function webhookCommand(terminal: Terminal): Command {
  const command = new Command('webhook')
    .description('Send what happens in the workspace to other systems.')
    .addHelpText(
      'after',
      example(
        'webhook create https://hooks.example.com/terse --events link.created link.clicked',
        'webhook test hooks.example.com',
      ),
    )
  addReads(terminal, command)
  addChanges(terminal, command)
  addCalls(terminal, command)
  return command
}

function addReads(terminal: Terminal, command: Command): void {
  command
    .command('list')
    .description('List the webhooks, and how they do.')
    .option('--json', 'print JSON')
    .action(async ({ json }: Output) => {
      const { client } = await openRemote()
      const webhooks = await listWebhooks(client)
      if (json) terminal.out(plainJson(webhooks))
      else if (webhooks.length === 0) terminal.out('There are no webhooks.')
      else {
        const rows = webhooks.map(({ name, url, events, state, waiting }) =>
          [name, url, events.join(' '), state, waiting].map(String),
        )
        terminal.out(formatTable(['NAME', 'URL', 'EVENTS', 'STATE', 'WAITING'], rows))
      }
    })
  command
    .command('show')
    .description('Show a webhook.')
    .argument(...WEBHOOK)
    .option('--json', 'print JSON')
    .action(async (text: string, { json }: Output) => {
      const { client } = await openRemote()
      print(terminal, await findWebhook(client, text), json)
    })
  command
    .command('attempts')
    .description('List the last 25 attempts, the newest first.')
    .argument(...WEBHOOK)
    .option('--failed', 'only those that failed')
    .option('--json', 'print JSON, with what was sent and answered')
    .action(async (text: string, { failed, json }: Output & { readonly failed?: true }) => {
      const { client } = await openRemote()
      const { attemptPage } = await import('@terse/contract/webhooks')
      const { id } = await findWebhook(client, text)
      const query = failed ? { failed: 'true' } : {}
      const { data } = await client.get(`${PATH}/${id}/attempts`, attemptPage, query)
      if (json) terminal.out(plainJson(data))
      else if (data.length === 0) terminal.out('Nothing was sent within 7 days.')
      else {
        const rows = data.map((attempt) =>
          [
            attempt.at,
            answerOf(attempt),
            `${attempt.took_ms} ms`,
            attempt.event,
            attempt.summary ?? '',
            `try ${attempt.try}`,
            attempt.message_id,
          ].map(String),
        )
        terminal.out(formatTable(['AT', 'ANSWER', 'TOOK', 'EVENT', 'ABOUT', 'TRY', 'ID'], rows))
      }
    })
}

function addChanges(terminal: Terminal, command: Command): void {
  withSettings(command.command('create').description('Add a webhook. Prints its secret, once.'))
    .argument('<url>', 'where events are sent')
    .option('--secret <secret>', 'whsec_ and 24 to 64 bytes in base64; drawn when left out')
    .action(async (url: string, options: Settings & { readonly secret?: string }) => {
      const { client } = await openRemote()
      const { createdWebhookSchema } = await import('@terse/contract/webhooks')
      const { secret, json } = options
      const body = { url, events: [], ...bodyOf(options), secret }
      const created = await client.post(PATH, createdWebhookSchema, body)
      if (json) return terminal.out(plainJson(created))
      terminal.err(`The webhook ${plainText(created.name)} is there. Keep its secret:`)
      terminal.out(created.secret)
    })
  withSettings(command.command('update').description('Change a webhook. What is left out stays.'))
    .argument(...WEBHOOK)
    .option('--url <url>', 'where events are sent')
    .option('--no-ordered', 'do not keep the order')
    .action(async (text: string, { json, ...options }: Settings) => {
      const { client } = await openRemote()
      print(terminal, await change(client, text, bodyOf(options)), json)
    })
  for (const [name, enabled, description] of [
    ['enable', true, 'Send events to a webhook again.'],
    ['disable', false, 'Send no events to a webhook. What waits is given up.'],
  ] as const) {
    command
      .command(name)
      .description(description)
      .argument(...WEBHOOK)
      .option('--json', 'print JSON')
      .action(async (text: string, { json }: Output) => {
        const { client } = await openRemote()
        print(terminal, await change(client, text, { enabled }), json)
      })
  }
  command
    .command('rotate-secret')
    .description(
      'Give a webhook another secret, and print it, once. The old one signs too for 24 h.',
    )
    .argument(...WEBHOOK)
    .option('--json', 'print JSON')
    .action(async (text: string, { json }: Output) => {
      const { client } = await openRemote()
      const { createdWebhookSchema } = await import('@terse/contract/webhooks')
      const { id } = await findWebhook(client, text)
      const rotated = await client.post(`${PATH}/${id}/secret`, createdWebhookSchema, {})
      terminal.out(json ? plainJson(rotated) : rotated.secret)
    })
  command
    .command('delete')
    .description('Delete a webhook and the log of its attempts. This cannot be undone.')
    .argument(...WEBHOOK)
    .option('--yes', 'delete without a question; needed outside a terminal')
    .option('--json', 'print the deleted webhook as JSON')
    .action(async (text: string, options: Output & { readonly yes?: true }) => {
      const { client } = await openRemote()
      const { webhookDeleted } = await import('@terse/contract/webhooks')
      const webhook = await findWebhook(client, text)
      const name = plainText(webhook.name)
      await confirmDeletion(terminal, `the webhook ${name}`, options.yes ?? false)
      await client.delete(`${PATH}/${webhook.id}`, webhookDeleted)
      if (options.json) terminal.out(plainJson(webhook))
      else terminal.err(`The webhook ${name} is deleted.`)
    })
}

function addCalls(terminal: Terminal, command: Command): void {
  command
    .command('test')
    .description('Send a test at once, and print what was answered.')
    .argument(...WEBHOOK)
    .option('--json', 'print JSON')
    .action(async (text: string, { json }: Output) => {
      const { client } = await openRemote()
      const { attemptSchema } = await import('@terse/contract/webhooks')
      const { id } = await findWebhook(client, text)
      const attempt = await client.post(`${PATH}/${id}/test`, attemptSchema, undefined)
      if (json) terminal.out(plainJson(attempt))
      else terminal.out(`${answerOf(attempt)} in ${attempt.took_ms} ms`)
      if (!attempt.ok) throw new RemoteFault('The receiver did not take the test.', undefined)
    })
  command
    .command('replay')
    .description('Send one call again, or the events of a period.')
    .argument(...WEBHOOK)
    .option('--message <id>', 'the call, as "webhook attempts" lists it')
    .option('--from <instant>', 'events from this instant on, such as 2026-11-01T09:00:00Z')
    .option('--to <instant>', 'events before this instant; now when left out')
    .option('--events <event...>', 'only these')
    .option('--undelivered', 'leave out what was delivered')
    .option('--dry-run', 'send nothing, and print how many calls it would be')
    .option('--json', 'print the webhook as JSON')
    .action(async (text: string, options: Output & ReplayOptions) => {
      const { client } = await openRemote()
      const { webhookSchema } = await import('@terse/contract/webhooks')
      const { id } = await findWebhook(client, text)
      const { message: message_id, json, dryRun: dry_run, ...period } = options
      const body = { message_id, dry_run, ...period }
      const webhook = await client.post(`${PATH}/${id}/replay`, webhookSchema, body)
      if (json) terminal.out(plainJson(webhook))
      else if (dry_run) terminal.out(callsOf(webhook))
      else terminal.err('It is sent again.')
    })
}

type ReplayOptions = {
  readonly message?: string
  readonly from?: string
  readonly to?: string
  readonly events?: readonly string[]
  readonly undelivered?: true
  readonly dryRun?: true
}

function callsOf({ replay }: WebhookResource): string {
  const { queued = 0, done = true } = replay ?? {}
  return done ? `${queued} calls` : `more than ${queued} calls`
}

function withSettings(command: Command): Command {
  return command
    .option('--events <event...>', 'what it is called for, such as link.created')
    .option('--name <name>', 'what people call it')
    .option('--domain <domain...>', 'only what concerns these domains')
    .option('--tag <tag...>', 'only links with one of these tags')
    .option('--ordered', 'send an event only when the one before is delivered')
    .option('--json', 'print JSON')
}

function bodyOf({ name, url, events, domain: domains, tag: tags, ordered }: Settings): object {
  const body = { name, url, events, domains, tags, ordered }
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

async function change(client: ApiClient, text: string, body: object): Promise<WebhookResource> {
  const { webhookSchema } = await import('@terse/contract/webhooks')
  const { id } = await findWebhook(client, text)
  return client.patch(`${PATH}/${id}`, webhookSchema, body)
}

function answerOf({ status, fault }: AttemptResource): string {
  return String(status ?? fault)
}

function print(terminal: Terminal, webhook: WebhookResource, json: true | undefined): void {
  if (json) {
    terminal.out(plainJson(webhook))
    return
  }
  const { name, url, events, domains, tags, ordered, state, disabled_reason, waiting } = webhook
  const rows = [
    ['Name', plainText(name)],
    ['URL', url],
    ['Events', events.join(', ')],
    ['Only for', [...domains, ...tags.map(plainText)].join(', ') || 'all'],
    ['Order', ordered ? 'kept' : 'any'],
    ['State', disabled_reason === null ? state : `${state} (${disabled_reason})`],
    ['Waiting', String(waiting)],
    ['Secret', `whsec_…${webhook.secret_hint}`],
  ]
  terminal.out(rows.map(([name, value]) => `${name}: ${value}`).join('\n'))
}

async function listWebhooks(client: ApiClient): Promise<WebhookResource[]> {
  const { webhookPage } = await import('@terse/contract/webhooks')
  const webhooks: WebhookResource[] = []
  for (let page = 1, last = 1; page <= last; page += 1) {
    const { data, meta } = await client.get(PATH, webhookPage, { page, per_page: PER_PAGE })
    webhooks.push(...data)
    last = meta.last_page
  }
  return webhooks
}

/** @throws {RemoteFault} where there is none, or more than one of the name */
async function findWebhook(client: ApiClient, text: string): Promise<WebhookResource> {
  if (UUID.test(text)) {
    const { webhookSchema } = await import('@terse/contract/webhooks')
    return client.get(`${PATH}/${text}`, webhookSchema)
  }
  const wanted = text.normalize('NFC').toLowerCase()
  const named = (await listWebhooks(client)).filter(({ name }) => name.toLowerCase() === wanted)
  const [found, ...more] = named
  if (found === undefined) {
    throw new RemoteFault(`There is no webhook ${text} in this workspace.`, 'not_found')
  }
  if (more.length > 0)
    throw new RemoteFault(`Several webhooks are called ${text}: use an ID.`, undefined)
  return found
}
