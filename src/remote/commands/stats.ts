import type { ClickReportResource } from '@terse/contract/clicks'
import type { VariantComparisonResource } from '@terse/contract/variants'
import { Command, Option } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { formatTable, plainJson, plainText, type Terminal } from '../../platform/cli/terminal.ts'
import { LINK, openRemote } from '../open-remote.ts'

/** The columns of the narrowest usual terminal. */
const WIDTH = 80
const GAP = 2
const BAR_LENGTH_MAX = 40
const NAME_LENGTH_MAX = 30

type StatsOptions = {
  readonly from?: string
  readonly to?: string
  readonly timezone?: string
  readonly interval?: string
  readonly by?: string
  readonly limit?: string
  readonly bots?: string
  readonly json?: true
}

export function statsCommand(terminal: Terminal): Command {
  return new Command('stats')
    .description(
      'Chart the clicks of a link: by day, without days that have none, or by the values of a dimension.',
    )
    .argument(...LINK)
    .option('--from <date>', 'the first day, such as 2026-11-01; 30 days ago if not given')
    .option('--to <date>', 'the day after the last one')
    .option('--timezone <name>', 'where days begin; UTC if not given')
    .addOption(
      new Option('--interval <interval>', 'count by this').choices(['hour', 'day', 'month']),
    )
    .addOption(
      new Option('--by <dimension>', 'count by the values of this').choices([
        ...[
          'country',
          'device',
          'os',
          'browser',
          'referrer',
          'language',
          'source',
          'rule',
          'variant',
          'label',
          'region',
          'city',
        ],
      ]),
    )
    .option('--limit <number>', 'how many values; 10 if not given')
    .addOption(
      new Option('--bots <choice>', 'whether to count bots').choices([
        'exclude',
        'include',
        'only',
      ]),
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('stats spring --by country'))
    .action(async (text: string, options: StatsOptions) => {
      const { client, find } = await openRemote()
      const { clickReport } = await import('@terse/contract/clicks')
      const { id } = await find(text)
      const { from, to, timezone, interval, by, limit, bots } = options
      const query = { from, to, timezone, interval, group_by: by, limit, bots }
      const report = await client.get(`/links/${id}/clicks`, clickReport, query)
      terminal.out(options.json ? plainJson(report) : formatReport(report))
    })
}

type VariantsOptions = Pick<StatsOptions, 'from' | 'to' | 'timezone' | 'json'>

export function addVariants(command: Command, terminal: Terminal): void {
  command
    .command('variants')
    .description('Compare the variants of a link that divides its visitors.')
    .argument(...LINK)
    .option('--from <date>', 'the first day, such as 2026-11-01; 30 days ago if not given')
    .option('--to <date>', 'the day after the last one')
    .option('--timezone <name>', 'where days begin; UTC if not given')
    .option('--json', 'print JSON')
    .addHelpText('after', example('link variants spring --from 2026-11-01'))
    .action(async (text: string, { json, ...query }: VariantsOptions) => {
      const { client, find } = await openRemote()
      const { variantComparison } = await import('@terse/contract/variants')
      const { id } = await find(text)
      const shown = await client.get(`/links/${id}/variants`, variantComparison, query)
      terminal.out(json ? plainJson(shown) : formatVariants(shown))
    })
}

function formatVariants({ data }: VariantComparisonResource): string {
  if (data.length === 0) return 'None of its rules divides visitors.'
  return data
    .map(({ rule, name, text, variants }) => {
      const rows = variants.map((each) => [
        ...[plainText(each.name), String(each.visitors)],
        ...[percentText(each.share), percentText(each.expected_share), plainText(each.text)],
      ])
      const table = formatTable(['VARIANT', 'VISITORS', 'SHARE', 'BY WEIGHT', ''], rows)
      return `${plainText(name ?? rule)}: ${text}\n\n${table}`
    })
    .join('\n\n')
}

function percentText(share: number | null): string {
  return share === null ? '–' : `${(share * 100).toFixed(1)} %`
}

/** Formats a report as text, in at most `WIDTH` columns below its first lines. */
export function formatReport(report: ClickReportResource): string {
  const { clicks, bots, visitors } = report.total
  const sums = [`${clicks} clicks`, `${bots} by bots`]
  if (visitors !== null) sums.push(`${visitors} visitors`)
  const period = `${report.from.slice(0, 10)} to ${report.to.slice(0, 10)} (${report.timezone})`
  const rows = rowsOf(report)
  const shown = report.group_by === null ? rows.filter(({ number }) => number > 0) : rows
  const chart = shown.length === 0 ? '' : `\n\n${chartOf(headingOf(report), shown)}`
  const empty = rows.length - shown.length
  const note = empty === 0 ? '' : `\n\nLeft out without clicks: ${countOf(empty, report.interval)}.`
  return `${sums.join(', ')}\n${period}${chart}${note}`
}

type Row = { readonly name: string; readonly number: number }
type Counts = Partial<Record<'clicks' | 'bots', number | undefined>>

function rowsOf(report: ClickReportResource): readonly Row[] {
  const numberOf = ({ clicks = 0, bots = 0 }: Counts) => clicks + bots
  return report.group_by === null
    ? report.data.map((point) => ({ name: startText(point.start), number: numberOf(point) }))
    : report.data.map((group) => ({ name: group.value ?? 'unknown', number: numberOf(group) }))
}

function headingOf({ group_by, interval }: ClickReportResource): string {
  return (group_by ?? interval ?? 'from').toUpperCase()
}

/** Draws a bar of each number, in at most `WIDTH` columns. */
function chartOf(heading: string, rows: readonly Row[]): string {
  const most = Math.max(...rows.map(({ number }) => number))
  const names = rows.map(({ name }) => shorten(plainText(name)))
  const nameWidth = Math.max(...[heading, ...names].map(({ length }) => length))
  const numberWidth = Math.max('CLICKS'.length, String(most).length)
  const room = Math.min(BAR_LENGTH_MAX, WIDTH - nameWidth - numberWidth - 2 * GAP)
  // Whatever has clicks has a bar.
  const barOf = (number: number) =>
    number === 0 ? '' : '█'.repeat(Math.max(1, Math.round((number / most) * room)))
  return formatTable(
    [heading, 'CLICKS', ''],
    rows.map(({ number }, nth) => [
      names[nth] ?? '',
      String(number).padStart(numberWidth),
      barOf(number),
    ]),
  )
}

function shorten(name: string): string {
  return name.length <= NAME_LENGTH_MAX ? name : `${name.slice(0, NAME_LENGTH_MAX - 1)}…`
}

function countOf(number: number, interval: ClickReportResource['interval']): string {
  return `${number} ${interval ?? 'interval'}${number === 1 ? '' : 's'}`
}

/** A day without its hour, where it begins at midnight. */
function startText(start: string): string {
  return start.slice(11, 16) === '00:00' ? start.slice(0, 10) : start.slice(0, 16).replace('T', ' ')
}
