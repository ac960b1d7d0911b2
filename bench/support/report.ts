import { execFileSync } from 'node:child_process'
import { Console } from 'node:console'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { VERSION } from '../../src/platform/process/version.ts'
import type { Outcome } from './scenario.ts'
import { round } from './statistics.ts'

type Row = Readonly<Record<string, unknown>>

/**
 * Prints a table for people, then everything as JSON for machines; missed targets set the exit
 * code.
 */
export function report(bench: string, rows: readonly Row[], missed: readonly string[]): void {
  printTable(rows)
  printJson({ bench, ...conditions(), rows, missed })
  for (const text of missed) process.stderr.write(`Missed: ${text}\n`)
  if (missed.length > 0) process.exitCode = 1
}

/** Prints the results of one scenario for people. */
export function printOutcome({ rows, targets, missing }: Outcome): void {
  printTable(rows)
  for (const { what, value, atMost, atLeast, met } of targets.map(judged)) {
    const bound = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`
    process.stdout.write(`${met ? 'Met' : 'Missed'}: ${what} ${value}, ${bound}\n`)
  }
  for (const text of missing) process.stdout.write(`Not measured: ${text}\n`)
  process.stdout.write('\n')
}

/** Prints everything as JSON for machines; missed targets set the exit code. */
export function reportOutcomes(
  setup: Readonly<Record<string, unknown>>,
  outcomes: ReadonlyMap<string, Outcome>,
): void {
  const scenarios = [...outcomes].map(([scenario, { rows, targets, missing }]) => ({
    scenario,
    rows,
    targets: targets.map(judged),
    missing,
  }))
  printJson({ bench: 'bench', ...conditions(), ...setup, scenarios })
  if (scenarios.some(({ targets }) => targets.some(({ met }) => !met))) process.exitCode = 1
}

function judged({ what, value, atMost, atLeast }: Outcome['targets'][number]) {
  const met =
    (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast)
  return { what, value: round(value, 2), atMost, atLeast, met }
}

function printTable(rows: readonly Row[]): void {
  new Console(process.stdout).table(rows)
}

function printJson(results: object): void {
  process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
}

function conditions() {
  const processors = cpus()
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  return {
    at: new Date().toISOString(),
    terse: VERSION,
    commit: git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') && ' with changes'),
    node: process.version,
    sqlite: process.versions.sqlite,
    system: `${type()} ${release()}`,
    processor: `${processors.length} x ${processors[0]?.model}`,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    /**
     * Load of the last minute, including this run: other work on the machine makes the numbers
     * worse.
     */
    load: loadavg()[0],
  }
}
