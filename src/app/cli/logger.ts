import { isatty } from 'node:tty'
import { destination, type Logger, pino, stdTimeFunctions } from 'pino'
import { readableLine } from '../../platform/log/readable-line.ts'
import type { Config } from '../config/read-config.ts'

/** Logs go here, because standard output is for a command's result. */
const STDERR = 2

/**
 * Creates a logger that writes to standard error, as text for people or as JSON.
 *
 * @param facts fields of every line
 */
export function createLogger(
  { logLevel, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>,
  facts: Readonly<Record<string, unknown>> | null = null,
): Logger {
  const options = { level: logLevel, base: facts, timestamp: stdTimeFunctions.isoTime }
  const output = destination(STDERR)
  const isTerminal = isatty(STDERR)
  if (logFormat === 'json' || (logFormat === 'auto' && !isTerminal)) return pino(options, output)
  // https://no-color.org
  const hasColor = isTerminal && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
  return pino(options, { write: (line) => output.write(readableLine(line, hasColor)) })
}
