/** Where a command writes. */
export type Terminal = {
  /** What was asked for. */
  out(text: string): void
  /** Everything else. */
  err(text: string): void
  /** A line that the next one replaces, where somebody watches; nothing elsewhere. */
  status(text: string): void
}

export const processTerminal: Terminal = {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  status(text) {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
  },
}

/** Rows of text under headings, in columns as wide as they need to be. */
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
