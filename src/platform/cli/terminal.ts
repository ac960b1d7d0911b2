import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { hasErrorCode } from '../process/has-error-code.ts'
import { plainText } from './plain-text.ts'
import { readSecret } from './read-secret.ts'

const EXIT_FAILED = 1

/** The output of a command. */
export type Terminal = {
  /** Writes results, to standard output. */
  out(text: string): void
  /** Writes messages and errors, to standard error. */
  err(text: string): void
  /** Standard output, for results of any size. Fails with an `OutputFault` when nobody can read them any more. */
  readonly output: Writable
  /** Whether a person reads standard output, rather than a file or a program. */
  readonly isInteractive: boolean
  /**
   * Reads a secret from a person, who does not see it, or the first line of standard input.
   *
   * @param prompt shown to a person
   */
  readSecret(prompt: string): Promise<string>
  /** Asks a person a question; only `y` and `yes` agree. Returns undefined where no person can answer. */
  confirm(question: string): Promise<boolean | undefined>
  /** Writes a progress line that the next one replaces; does nothing outside a terminal. */
  status(text: string): void
}

/** Standard output cannot be written. This ends a command's work, and has been reported where it is a fault. */
export class OutputFault extends Error {
  override readonly name = 'OutputFault'
}

/**
 * Returns the terminal of this process. A reader that closes the pipe, as `head` does, has seen enough: what follows is
 * dropped, and the command ends with the status that it has. Any other fault of standard output is reported, once.
 */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process
  const err = (text: string) => stderr.write(`${text}\n`)
  // There is nowhere to report it.
  stderr.on('error', () => {})
  let isReported = false
  stdout.on('error', (error) => {
    if (hasErrorCode(error, 'EPIPE') || isReported) return
    isReported = true
    err(`terse: Standard output cannot be written: ${error.message}`)
    process.exitCode = EXIT_FAILED
  })
  return {
    out: (text) => stdout.write(`${text}\n`),
    err,
    output: standardOutput(),
    isInteractive: stdout.isTTY === true,
    readSecret: (prompt) => readSecret(process.stdin, prompt, (text) => stderr.write(text)),
    confirm: async (question) => (process.stdin.isTTY ? askPerson(question) : undefined),
    status(text) {
      if (stderr.isTTY) stderr.write(`\r\x1b[K${text}`)
    },
  }
}

function askPerson(question: string): Promise<boolean> {
  // Not on standard output, which may be a file.
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  return new Promise((resolve) => {
    // Ctrl-C and Ctrl-D too.
    lines.once('close', () => resolve(false))
    lines.once('SIGINT', () => lines.close())
    lines.question(`${question} [y/N] `, (answer) => {
      resolve(/^y(?:es)?$/i.test(answer.trim()))
      lines.close()
    })
  })
}

/** Unlike `process.stdout`, it does not take more after a fault. */
function standardOutput(): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk, encoding, done) {
      process.stdout.write(chunk, encoding, (error) => {
        done(error && new OutputFault(error.message, { cause: error }))
      })
    },
  }).on('error', () => {})
}

/** Formats rows under headings, in aligned columns. No cell can control the terminal. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const cells = [headings, ...rows].map((row) => row.map(plainText))
  const widths = headings.map((_, column) =>
    cells.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  )
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
