import type { Terminal } from './terminal.ts'

const LINE_INTERVAL_MS = 10_000

/** Shows how far a command is: a line that changes in a terminal, else one every ten seconds. */
export class Progress {
  readonly #terminal: Terminal
  readonly #isTerminal: boolean
  #lineAtMs = performance.now() + LINE_INTERVAL_MS

  constructor(terminal: Terminal, isTerminal = process.stderr.isTTY === true) {
    this.#terminal = terminal
    this.#isTerminal = isTerminal
  }

  show(text: string): void {
    if (this.#isTerminal) {
      this.#terminal.status(text)
    } else if (performance.now() >= this.#lineAtMs) {
      this.#lineAtMs = performance.now() + LINE_INTERVAL_MS
      this.#terminal.err(text)
    }
  }

  retrying(error: Error, delayMs: number): void {
    if (this.#isTerminal) this.#terminal.status('')
    const seconds = Math.max(1, Math.round(delayMs / 1_000))
    this.#terminal.err(`${error.message} Trying again in ${seconds} s.`)
  }

  end(): void {
    this.#terminal.status('')
  }
}
