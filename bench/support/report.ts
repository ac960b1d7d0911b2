import { execFileSync } from 'node:child_process'
import { Console } from 'node:console'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { VERSION } from '../../src/lib/version.ts'

type Row = Readonly<Record<string, unknown>>

/** Prints a table for people, then everything as JSON for machines; misses set the exit code. */
export function report(bench: string, rows: readonly Row[], missed: readonly string[]): void {
  new Console(process.stdout).table(rows)
  const results = { bench, ...conditions(), rows, missed }
  process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
  for (const text of missed) process.stderr.write(`Missed: ${text}\n`)
  if (missed.length > 0) process.exitCode = 1
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
    /** Of the last minute, this run included: other work beside it makes the numbers worse. */
    load: loadavg()[0],
  }
}
