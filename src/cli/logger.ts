import { destination, type Logger, pino, stdTimeFunctions } from 'pino'

/**
 * Log lines as JSON on standard error: standard output is for what a command was asked for.
 *
 * @param facts written into each line
 */
export function createLogger(
  level: string,
  facts: Readonly<Record<string, unknown>> | null = null,
): Logger {
  return pino({ level, base: facts, timestamp: stdTimeFunctions.isoTime }, destination(2))
}
