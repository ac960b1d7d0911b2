import { Writable } from 'node:stream'
import { runCli } from '../../src/app/cli/run-cli.ts'
import type { CliResult } from './run-cli.ts'

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs one command of the command line in this process, to test what the command does. `runCli`
 * starts a process, which costs twenty times as much, and is for what only a process shows.
 * Commands run one after the other, because a process has one environment.
 */
export function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin = '',
): Promise<CliResult> {
  const result = last.then(() => run(args, env, stdin))
  last = result.catch(() => undefined)
  return result
}

async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin: string,
): Promise<CliResult> {
  const outside = { env: process.env, exitCode: process.exitCode }
  let stdout = ''
  let stderr = ''
  process.env = { ...env }
  process.exitCode = 0
  try {
    await runCli(args, {
      out: (text) => {
        stdout += `${text}\n`
      },
      err: (text) => {
        stderr += `${text}\n`
      },
      output: new Writable({
        write(chunk, _encoding, done) {
          stdout += chunk
          done()
        },
      }),
      isInteractive: false,
      readSecret: async () => stdin,
      confirm: async () => (stdin === '' ? undefined : stdin === 'yes'),
      status: () => {},
    })
    return { code: Number(process.exitCode), stdout, stderr }
  } finally {
    process.env = outside.env
    process.exitCode = outside.exitCode
  }
}
