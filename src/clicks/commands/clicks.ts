import { Command, InvalidArgumentError } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { Progress } from '../../platform/cli/progress.ts'
import { formatTable, plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import type { MoveProgress } from '../move/click-mover.ts'
import type { MoveResult } from '../move/move-clicks.ts'
import { formatDay, OPENING_DAY } from '../tally/click-day.ts'

const EXIT_DIFFERENT = 1

/** The value of `--to` for the way back. */
const DATABASE = 'database'

/** Where clicks are moved. */
export type MovePlaces = {
  /** The address of a ClickHouse, or `database`. */
  readonly to: string
  /** For `database`: the address of the ClickHouse; the configured one when left out. */
  readonly from?: string
}

type Move = (
  places: MovePlaces,
  on: {
    readonly signal: AbortSignal
    readonly onWait: () => void
    readonly onProgress: (progress: MoveProgress) => void
  },
) => Promise<MoveResult>

export function clicksCommand(terminal: Terminal, move: Move): Command {
  const command = new Command('clicks').description('Manage where clicks are stored.')

  command
    .command('move')
    .description(
      'Copy clicks between the database and ClickHouse, while the service runs, and compare both. Run it before TERSE_CLICKS_URL is set or removed, and once more after that: repeating it counts no click twice, and nothing is deleted.',
    )
    .requiredOption(
      '--to <place>',
      `such as clickhouse://user@host:8123/terse; the password is TERSE_CLICKS_PASSWORD. "${DATABASE}" copies back what ClickHouse has counted`,
    )
    .option(
      '--from <url>',
      `with --to ${DATABASE}: the address of the ClickHouse, when TERSE_CLICKS_URL is not set any more`,
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      example(
        'clicks move --to clickhouse://terse@clickhouse.internal:8123/terse',
        `clicks move --to ${DATABASE} --from clickhouse://terse@clickhouse.internal:8123/terse`,
      ),
    )
    .action(async ({ json, ...places }: MovePlaces & { json?: true }) => {
      if (places.from !== undefined && places.to !== DATABASE) {
        throw new InvalidArgumentError(`--from goes with --to ${DATABASE}.`)
      }
      const result = await runInterruptibly(terminal, (on) => move(places, on))
      if (json) terminal.out(plainJson(presented(result)))
      else for (const line of summaryOf(result, places)) terminal.out(line)
      if (result.differences.length > 0) process.exitCode = EXIT_DIFFERENT
    })

  return command
}

async function runInterruptibly(
  terminal: Terminal,
  work: (on: Parameters<Move>[1]) => Promise<MoveResult>,
): Promise<MoveResult> {
  const stopping = new AbortController()
  const stop = () => stopping.abort(new Error('Stopped. Run the same command again to go on.'))
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, stop)
  const progress = new Progress(terminal)
  try {
    return await work({
      signal: stopping.signal,
      onWait: () =>
        terminal.err(
          'Another process may still move clicks. Waiting until it has not for some seconds.',
        ),
      onProgress: (at) => progress.show(progressText(at)),
    })
  } finally {
    progress.end()
    for (const signal of signals) process.off(signal, stop)
  }
}

function progressText({ day, daysDone, days, clicks }: MoveProgress): string {
  return `${nameOf(day)}: ${count(daysDone)} of ${counted(days, 'day')}, ${counted(clicks, 'single click')}`
}

function summaryOf(
  { moved, unchanged, left, clicks, differences }: MoveResult,
  { to }: MovePlaces,
): readonly string[] {
  const isBack = to === DATABASE
  const lines = [
    `${counted(moved, 'day')} copied, with ${counted(clicks, 'single click')}; ${count(unchanged)} ${unchanged === 1 ? 'was' : 'were'} copied before.`,
  ]
  if (left > 0) {
    const [change, again] = isBack
      ? ['remove TERSE_CLICKS_URL and its password', 'this with --from']
      : ['set TERSE_CLICKS_URL', 'this']
    lines.push(
      `${counted(left, 'day')} may still change: ${change}, restart all nodes, and run ${again} again.`,
    )
  }
  if (differences.length === 0) {
    const both = isBack
      ? 'The database has all clicks that ClickHouse has of each link and day that was copied.'
      : 'Both sides have the same clicks of each link and day that was copied.'
    return [...lines, both]
  }
  const sides = isBack ? ['CLICKHOUSE', 'DATABASE'] : ['DATABASE', 'CLICKHOUSE']
  const table = formatTable(
    ['DAY', 'OF', 'NAME', ...sides],
    differences.map(({ day, kind, name, source, target }) => [
      nameOf(day),
      kind,
      name,
      String(source),
      String(target),
    ]),
  )
  return [...lines, 'Both sides differ:', table]
}

function presented({ differences, ...report }: MoveResult) {
  return {
    ...report,
    differences: differences.map(({ day, ...difference }) => ({ day: nameOf(day), ...difference })),
  }
}

function nameOf(day: number): string {
  return day === OPENING_DAY ? 'opening' : formatDay(day)
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}
