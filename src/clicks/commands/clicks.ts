import { Command } from 'commander'
import { example } from '../../platform/cli/options.ts'
import { Progress } from '../../platform/cli/progress.ts'
import { formatTable, plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import type { MoveProgress } from '../move/click-mover.ts'
import type { MoveResult } from '../move/move-clicks.ts'
import { formatDay, OPENING_DAY } from '../tally/click-day.ts'

const EXIT_DIFFERENT = 1

/** Copies clicks to the database of this address. */
type Move = (
  to: string,
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
      'Copy the clicks of the database to ClickHouse, while the service runs, and compare both. Run it before TERSE_CLICKS_URL is set, and once more after that: repeating it counts no click twice, and nothing is deleted.',
    )
    .requiredOption(
      '--to <url>',
      'such as clickhouse://user@host:8123/terse; the password is TERSE_CLICKS_PASSWORD',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      example('clicks move --to clickhouse://terse@clickhouse.internal:8123/terse'),
    )
    .action(async ({ to, json }: { to: string; json?: true }) => {
      const result = await runInterruptibly(terminal, (on) => move(to, on))
      if (json) terminal.out(plainJson(presented(result)))
      else for (const line of summaryOf(result)) terminal.out(line)
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
  return `${nameOf(day)}: ${count(daysDone)} of ${count(days)} days, ${count(clicks)} single clicks`
}

function summaryOf({ moved, unchanged, left, clicks, differences }: MoveResult): readonly string[] {
  const lines = [
    `${count(moved)} days copied, with ${count(clicks)} single clicks; ${count(unchanged)} were copied before.`,
  ]
  if (left > 0) {
    lines.push(
      `${count(left)} days may still change, and are left: set TERSE_CLICKS_URL, restart all nodes, and run this again.`,
    )
  }
  if (differences.length === 0)
    return [...lines, 'Both sides have the same clicks of each link and day that was copied.']
  const table = formatTable(
    ['DAY', 'OF', 'NAME', 'DATABASE', 'CLICKHOUSE'],
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
