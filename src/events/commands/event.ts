import { Command } from 'commander'
import { commandLine, type Workspaces } from '../../identity/index.ts'
import { example, parseUpTo, type RunWith } from '../../platform/cli/options.ts'
import { formatTable, plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import { INSTANCE } from '../../storage/event-log.ts'
import type { Events } from '../events.ts'
import { presentEvent } from '../present.ts'
import type { EventMark, NamedEvent } from '../store/event-store.ts'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 100_000
const PAGE = 100

type Options = {
  readonly workspace?: string
  readonly instance?: true
  readonly limit: number
  readonly json?: true
}

type EventServices = { readonly workspaces: Pick<Workspaces, 'get'>; readonly events: Events }

export function eventCommand(terminal: Terminal, withServices: RunWith<EventServices>): Command {
  const command = new Command('event')
    .description('Show who changed what.')
    .addHelpText('after', example('event list --workspace acme'))

  command
    .command('list')
    .description('List the events of a workspace or of the instance, the newest first.')
    .option('--workspace <name>', 'the events of this workspace')
    .option('--instance', 'the events that belong to no workspace, such as new passwords')
    .option('--limit <number>', 'how many to list', parseUpTo(LIMIT_MAX), LIMIT_DEFAULT)
    .option('--json', 'print JSON')
    .addHelpText('after', example('event list --workspace acme --json'))
    .action(async (options: Options) => {
      if ((options.workspace === undefined) === (options.instance === undefined)) {
        command.error('error: give either --workspace or --instance')
      }
      const events = await withServices((services) => list(services, options))
      terminal.out(options.json ? plainJson(events.map(presentEvent)) : table(events))
    })

  return command
}

async function list(
  { workspaces, events }: EventServices,
  { workspace, limit }: Options,
): Promise<readonly NamedEvent[]> {
  const id = workspace === undefined ? INSTANCE : (await workspaces.get(workspace)).id
  const listed: NamedEvent[] = []
  let beyond: EventMark | undefined
  while (listed.length < limit) {
    const count = Math.min(PAGE, limit - listed.length)
    const { items, rest } = await events.list(commandLine(id), { limit: count, beyond })
    listed.push(...items)
    if (rest === undefined) break
    beyond = rest
  }
  return listed
}

function table(events: readonly NamedEvent[]): string {
  return formatTable(
    ['AT', 'TYPE', 'BY', 'SUBJECT', 'CHANGE'],
    events.map(presentEvent).map((event) => {
      const subject = event.subject_name ?? event.subject_id ?? ''
      return [event.at, event.type, event.actor.name, subject, changeOf(event)]
    }),
  )
}

function changeOf({ before, after }: ReturnType<typeof presentEvent>): string {
  const fields = Object.keys({ ...before, ...after })
  const text = (value: unknown) => (value === undefined ? '' : JSON.stringify(value))
  return fields
    .map((field) => {
      if (before === null) return `${field}=${text(after?.[field])}`
      if (after === null) return `${field}=${text(before[field])}`
      return `${field}: ${text(before[field])} → ${text(after[field])}`
    })
    .join(', ')
}
