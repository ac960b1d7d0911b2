import type { Writable } from 'node:stream'

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
  /** Writes a progress line that the next one replaces; does nothing outside a terminal. */
  status(text: string): void
}

export const processTerminal: Terminal = {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  output: process.stdout,
  isInteractive: process.stdout.isTTY === true,
  status(text) {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
  },
}

/** Formats rows under headings, in aligned columns. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  return [headings, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
