import { execFile } from 'node:child_process'

export type ShellResult = {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a line as if it were pasted into a terminal. */
export function paste(line: string): Promise<ShellResult> {
  return new Promise((resolve) => {
    execFile('bash', ['-c', line], (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : error ? -1 : 0
      resolve({ code, stdout, stderr })
    })
  })
}
