import { destination, type Logger, pino, stdTimeFunctions } from 'pino'

/** Log lines as JSON on standard error: standard output is for what a command was asked for. */
export function createLogger(level: string): Logger {
  return pino({ level, base: null, timestamp: stdTimeFunctions.isoTime }, destination(2))
}
