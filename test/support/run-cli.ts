import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { INHERITED_ENV } from './inherited-env.ts'

const MAIN = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))

export type CliResult = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** Runs one command of the command line in its own process. */
export function runCli(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CliResult> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [MAIN, ...args],
      { env: { ...INHERITED_ENV, ...env } },
      (error, stdout, stderr) => {
        resolve({
          code: typeof error?.code === 'number' ? error.code : error ? -1 : 0,
          stdout,
          stderr,
        })
      },
    )
  })
}
