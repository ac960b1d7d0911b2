import type {
  ConversionReportResource,
  ConversionResource,
  ConversionSettingsResource,
} from '@terse/contract/conversions'
import { Command, InvalidArgumentError, Option } from 'commander'
import { collect, example, parseUpTo } from '../../platform/cli/options.ts'
import { formatTable, plainJson, plainText, type Terminal } from '../../platform/cli/terminal.ts'
import { openRemote } from '../open-remote.ts'

const PATH = '/conversions'
const SETTINGS_PATH = '/conversions/settings'
const PER_PAGE_MAX = 100
const WINDOW_DAYS_MAX = 400

type Output = { readonly json?: true }

type Filters = Output & {
  readonly from?: string
  readonly to?: string
  readonly timezone?: string
  readonly event?: readonly string[]
  readonly currency?: readonly string[]
  readonly link?: string
}

export function conversionsCommand(terminal: Terminal): Command {
  const command = addFilters(new Command('conversions'))
    .description(
      'Count what visitors did at their destination, for each currency, by the values of a dimension.',
    )
    .addOption(
      new Option('--by <dimension>', 'count by the values of this; by event if not given').choices([
        ...['event', 'currency', 'country', 'rule', 'variant', 'label', 'link'],
        ...['tag', 'utm_source', 'utm_medium', 'utm_campaign'],
      ]),
    )
    .option('--limit <number>', 'how many values; 10 if not given', parseUpTo(1_000))
    .addHelpText('after', example('conversions --by label', 'conversions list --event order'))
    .action(async (options: Filters & { readonly by?: string; readonly limit?: number }) => {
      const { client, query } = await openFiltered(options)
      const { conversionReport } = await import('@terse/contract/conversions')
      const { by = 'event', limit } = options
      const grouped = { ...query, group_by: by, limit }
      const report = await client.get(PATH, conversionReport, grouped)
      terminal.out(options.json ? plainJson(report) : formatReport(report))
    })
  addList(command, terminal)
  addReport(command, terminal)
  addSettings(command, terminal)
  return command
}

function addFilters(command: Command): Command {
  return command
    .option('--from <date>', 'the first day, such as 2026-11-01; 30 days ago if not given')
    .option('--to <date>', 'the day after the last one')
    .option('--timezone <name>', 'where days begin; UTC if not given')
    .option('--event <name>', 'of this event', collect)
    .option('--currency <code>', 'in this currency', collect)
    .option('--link <address>', 'of this link')
    .option('--json', 'print JSON')
}

async function openFiltered({ from, to, timezone, event, currency, link }: Filters) {
  const { client, find } = await openRemote()
  const id = link === undefined ? undefined : (await find(link)).id
  return { client, query: { from, to, timezone, event, currency, link: id } }
}

function addList(command: Command, terminal: Terminal): void {
  command
    .command('list')
    .description('List conversions, the newest first.')
    .option('--limit <number>', 'how many; 50 if not given', parseUpTo(PER_PAGE_MAX))
    .option('--json', 'print JSON')
    .action(async (_own: object, self: Command) => {
      // Options that `conversions` has too are parsed as its own.
      const options: Filters & { readonly limit?: number } = self.optsWithGlobals()
      const { client, query } = await openFiltered(options)
      const { conversionPage } = await import('@terse/contract/conversions')
      const per_page = options.limit ?? 50
      const { data } = await client.get(PATH, conversionPage, { ...query, per_page })
      terminal.out(options.json ? plainJson(data) : formatList(data))
    })
}

type Report = Output & {
  readonly value?: number
  readonly currency?: readonly string[]
  readonly key?: string
}

function addReport(command: Command, terminal: Terminal): void {
  command
    .command('report')
    .description('Report a conversion, as the server of a shop does.')
    .argument('<token>', 'with which the visitor came')
    .argument('<event>', 'such as order')
    .option(
      '--value <number>',
      'in minor units of the currency: 7490 for 74.90 EUR; negative for a refund',
      parseValue,
    )
    .option('--key <text>', 'your own name of it, such as the number of the order')
    .addHelpText(
      'after',
      example('conversions report "$TC" order --value 7490 --currency EUR --key order-1042'),
    )
    .option('--json', 'print JSON')
    .action(async (token: string, event: string, own: Report, self: Command) => {
      const { currency, json }: Report = self.optsWithGlobals()
      const { client } = await openRemote()
      const { conversionSchema } = await import('@terse/contract/conversions')
      const { value, key } = own
      const sent = { token, event, value, currency: currency?.at(-1), idempotency_key: key }
      const conversion = await client.post(PATH, conversionSchema, sent)
      terminal.out(json ? plainJson(conversion) : formatList([conversion]))
    })
}

function parseValue(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && text.trim() !== '') return value
  throw new InvalidArgumentError('It must be a whole number of minor units, such as 7490.')
}

type SettingsOptions = { readonly parameter?: string; readonly windowDays?: number }

function addSettings(command: Command, terminal: Terminal): void {
  command
    .command('settings')
    .description('Show or change which destinations get a token, and for how long it is accepted.')
    .addOption(
      new Option('--track <which>', 'where neither link nor domain says').choices(['all', 'none']),
    )
    .option('--parameter <name>', 'the parameter of destinations that has the token')
    .option(
      '--window-days <number>',
      'for how many days after the visit',
      parseUpTo(WINDOW_DAYS_MAX),
    )
    .addHelpText('after', example('conversions settings --track all'))
    .option('--json', 'print JSON')
    .action(async (own: SettingsOptions & { readonly track?: string }, self: Command) => {
      const { json }: Output = self.optsWithGlobals()
      const { client } = await openRemote()
      const { conversionSettingsSchema: schema } = await import('@terse/contract/conversions')
      const { value: before, version } = await client.getVersioned(SETTINGS_PATH, schema)
      const after = {
        track_conversions: own.track === undefined ? before.track_conversions : own.track === 'all',
        parameter: own.parameter ?? before.parameter,
        window_days: own.windowDays ?? before.window_days,
      }
      const isChange = Object.keys(own).some((name) => name !== 'json')
      const shown = isChange ? await client.put(SETTINGS_PATH, schema, after, version) : before
      terminal.out(json ? plainJson(shown) : settingsText(shown))
    })
}

function settingsText(settings: ConversionSettingsResource): string {
  const { track_conversions, parameter, window_days } = settings
  const where = track_conversions ? 'All destinations get' : 'Links and domains that say so get'
  return plainText(`${where} a token in ?${parameter}=…, accepted for ${window_days} days.`)
}

/** In the unit of the currency, with as many digits as it has. */
function amountText(value: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2
  return `${(value / 10 ** digits).toFixed(digits)} ${currency}`
}

type Counted = Pick<ConversionReportResource['total'], 'values'>

function amountsText({ values }: Counted): string {
  return values.map(({ value, currency }) => amountText(value, currency)).join(', ')
}

function formatReport({ from, to, timezone, total, group_by, groups }: ConversionReportResource) {
  const counted = (amount: number, noun: string) => `${amount} ${noun}${amount === 1 ? '' : 's'}`
  const visits = counted(total.visits, 'visit')
  const refunds = counted(total.refunds, 'refund')
  const head = `${counted(total.conversions, 'conversion')} of ${visits}, ${refunds}`
  const period = `${from.slice(0, 10)} to ${to.slice(0, 10)} (${timezone})`
  const rows = (groups ?? []).map((group) => [
    plainText(group.link ? `${group.link.domain}/${group.link.key}` : (group.value ?? 'none')),
    String(group.conversions),
    String(group.visits),
    amountsText(group),
  ])
  if (rows.length === 0) return `${head}\n${period}`
  const table = formatTable([(group_by ?? '').toUpperCase(), 'NUMBER', 'VISITS', 'VALUE'], rows)
  return `${head}\n${period}\n\n${table}`
}

function formatList(conversions: readonly ConversionResource[]): string {
  const rows = conversions.map(({ occurred_at, event, value, currency, domain, key }) => [
    occurred_at.slice(0, 19).replace('T', ' '),
    plainText(event),
    value === null || currency === null ? '' : amountText(value, currency),
    plainText(`${domain}/${key}`),
  ])
  return rows.length === 0 ? 'None.' : formatTable(['AT', 'EVENT', 'VALUE', 'LINK'], rows)
}
