import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'
import type { ReadStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import { Failure } from '../failure.ts'
import { hasErrorCode } from '../process/has-error-code.ts'

const EXIT_FAILED = 1

/** The output of a command. */
export type Terminal = {
  /** Writes results, to standard output. */
  out(text: string): void
  /** Writes messages and errors, to standard error. */
  err(text: string): void
  /** Standard output, for results of any size. Fails with an `OutputFault` when their reader has ended. */
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

/** Control characters, and those that reverse the direction of what follows them. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Removes what controls a terminal: text of visitors, other servers and other people must not. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text).replaceAll(UNSAFE, ' ')
}

/** Formats JSON for programs and terminals: what controls a terminal is escaped, so nothing is lost. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(UNSAFE, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const END_OF_TRANSMISSION = '\u0004'
const ENTER: ReadonlySet<string> = new Set(['\r', '\n', END_OF_TRANSMISSION])
const INTERRUPT = '\u0003'
const BACKSPACE: ReadonlySet<string> = new Set(['\u007f', '\b'])
/** No secret is longer. */
const LENGTH_MAX = 10_000

/**
 * Reads a secret: from a person, who does not see it on the screen, or the first line of what is piped in.
 *
 * @param show shows text to a person
 * @throws when the person interrupts
 */
export async function readSecret(
  input: ReadStream | (Readable & { isTTY?: false }),
  prompt: string,
  show: (text: string) => void,
): Promise<string> {
  const isTyped = input.isTTY === true
  // Before the prompt: what is typed or pasted at once would be shown.
  if (isTyped) input.setRawMode(true)
  input.setEncoding('utf8')
  try {
    if (isTyped) show(prompt)
    return await readLine(input, isTyped)
  } finally {
    if (isTyped) {
      input.setRawMode(false)
      show('\n')
    }
    input.pause()
  }
}

async function readLine(input: Readable, isTyped: boolean): Promise<string> {
  let text = ''
  // A terminal that is destroyed stays in raw mode.
  for await (const chunk of input.iterator({ destroyOnReturn: false })) {
    for (const character of String(chunk)) {
      if (isTyped && character === INTERRUPT) throw new Error('Interrupted.')
      if (ENTER.has(character)) return text.trim()
      if (isTyped && BACKSPACE.has(character)) text = text.slice(0, -1)
      else text += character
    }
    if (text.length > LENGTH_MAX) throw new Error('The text on standard input is too long.')
  }
  return text.trim()
}

/**
 * Asks a person before what cannot be undone.
 *
 * @param isConfirmed whether `--yes` was given, which answers the question
 * @throws when the person declines; `validation_failed` without a terminal: a script must pass `--yes`
 */
export async function confirmDeletion(
  terminal: Pick<Terminal, 'confirm'>,
  what: string,
  isConfirmed: boolean,
): Promise<void> {
  if (isConfirmed) return
  const answer = await terminal.confirm(`Delete ${what}? This cannot be undone.`)
  if (answer === undefined) {
    throw Failure.invalidCommand('--yes is needed where no terminal can ask')
  }
  if (!answer) throw new Error('Nothing was deleted.')
}
