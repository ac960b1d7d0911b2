import type { ClickReportResource } from '@terse/contract/clicks'
import { Command, Option } from 'commander'
import { example } from '../../platform/cli/example.ts'
import { plainJson } from '../../platform/cli/plain-text.ts'
import { formatTable, type Terminal } from '../../platform/cli/terminal.ts'
import { openRemote } from '../open-remote.ts'

const BAR_LENGTH = 30

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
    .description('Count the clicks of a link: by day, or by the values of a dimension.')
    .argument('<link>', 'its short link, its key on the service’s own host, or its ID')
    .option('--from <date>', 'the first day, such as 2026-11-01; 30 days ago if not given')
    .option('--to <date>', 'the day after the last one')
    .option('--timezone <name>', 'where days begin; UTC if not given')
    .addOption(
      new Option('--interval <interval>', 'count by this').choices(['hour', 'day', 'month']),
    )
    .addOption(
      new Option('--by <dimension>', 'count by the values of this').choices([
        ...['country', 'device', 'os', 'browser', 'referrer', 'language', 'source'],
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
      terminal.out(options.json ? plainJson(report) : describe(report))
    })
}

function describe(report: ClickReportResource): string {
  const { clicks, bots, visitors } = report.total
  const sums = [`${clicks} clicks`, `${bots} by bots`]
  if (visitors !== null) sums.push(`${visitors} visitors`)
  const period = `${report.from.slice(0, 10)} to ${report.to.slice(0, 10)} (${report.timezone})`
  return `${sums.join(', ')}, ${period}\n\n${tableOf(report)}`
}

function tableOf(report: ClickReportResource): string {
  const rows =
    report.group_by === null
      ? report.data.map(({ start, ...counts }) => ({ name: startText(start), ...counts }))
      : report.data.map(({ value, ...counts }) => ({ name: value ?? 'unknown', ...counts }))
  const numbers = rows.map(({ clicks = 0, bots = 0 }) => clicks + bots)
  const most = Math.max(1, ...numbers)
  return formatTable(
    [report.group_by?.toUpperCase() ?? 'FROM', 'CLICKS', ''],
    rows.map(({ name }, nth) => {
      const number = numbers[nth] ?? 0
      return [name, String(number), '█'.repeat(Math.round((number / most) * BAR_LENGTH))]
    }),
  )
}

/** A day without its hour, where it begins at midnight. */
function startText(start: string): string {
  return start.slice(11, 16) === '00:00' ? start.slice(0, 10) : start.slice(0, 16).replace('T', ' ')
}
