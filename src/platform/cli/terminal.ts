import type { Writable } from 'node:stream'
import { plainText } from './plain-text.ts'
import { readSecret } from './read-secret.ts'

/** The output of a command. */
export type Terminal = {
  /** Writes results, to standard output. */
  out(text: string): void
  /** Writes messages and errors, to standard error. */
  err(text: string): void
  /** Standard output, for results of any size. */
  readonly output: Writable
  /** Whether a person reads standard output, rather than a file or a program. */
  readonly isInteractive: boolean
  /**
   * Reads a secret from a person, who does not see it, or the first line of standard input.
   *
   * @param prompt shown to a person
   */
  readSecret(prompt: string): Promise<string>
  /** Writes a progress line that the next one replaces; does nothing outside a terminal. */
  status(text: string): void
}

export const processTerminal: Terminal = {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  output: process.stdout,
  isInteractive: process.stdout.isTTY === true,
  readSecret: (prompt) => readSecret(process.stdin, prompt, (text) => process.stderr.write(text)),
  status(text) {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
  },
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
