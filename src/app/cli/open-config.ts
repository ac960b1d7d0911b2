import { isatty } from 'node:tty'
import { destination, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { folderFaultOf } from '../../platform/disk/folder.ts'
import { readableLine } from '../../platform/log/readable-line.ts'
import { sqliteFolderFault } from '../../storage/sqlite/errors.ts'
import type { Config, Environment } from '../config/config.ts'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'

/** The configuration and logger of a command. */
export type CommandConfig = Pick<LoadedConfig, 'config' | 'env'> & { readonly log: Logger }

/**
 * Reads the configuration for one command, and creates its logger.
 *
 * @param given settings that override the environment, from the command's options
 */
export function openConfig(given: Environment = {}): CommandConfig {
  const { config, env, exposedFile } = loadConfig({ ...process.env, ...given })
  const log = createLogger(config)
  if (exposedFile !== undefined) {
    log.warn({ file: exposedFile }, 'every user can read the secrets in the settings file')
  }
  return { config, env, log }
}

/** Logs go here, because standard output is for a command's result. */
const STDERR = 2
/** Lines that could not be written yet; further ones are dropped. */
const PENDING_BYTES_MAX = 1024 * 1024

/**
 * Creates a logger that writes to standard error, as text for people or as JSON.
 *
 * @param facts fields of every line
 */
export function createLogger(
  { logLevel, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>,
  facts: Readonly<Record<string, unknown>> | null = null,
): Logger {
  const options = {
    level: logLevel,
    base: facts,
    timestamp: stdTimeFunctions.isoTime,
    serializers: { err: loggedError },
  }
  const output = standardError()
  const isTerminal = isatty(STDERR)
  if (logFormat === 'json' || (logFormat === 'auto' && !isTerminal)) return pino(options, output)
  // https://no-color.org
  const hasColor = isTerminal && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
  return pino(options, { write: (line) => output.write(readableLine(line, hasColor)) })
}

/** Without a stack where a disk is full: several parts notice that, and where in the program they did helps no operator. */
export function loggedError(error: Error): unknown {
  const { stack, ...logged } = stdSerializers.err(error)
  const isFull = folderFaultOf(error) === 'full' || sqliteFolderFault(error) === 'full'
  return isFull ? logged : { ...logged, stack }
}

/** A log that cannot be written, as on a full disk, must neither stop the service nor keep it from stopping. */
function standardError(): ReturnType<typeof destination> {
  const output = destination({ dest: STDERR, maxLength: PENDING_BYTES_MAX })
  let isFailing = false
  output.on('error', () => {
    isFailing = true
  })
  output.on('write', () => {
    isFailing = false
  })
  // At the exit, it would repeat a write that fails for ever.
  const flush = output.flushSync.bind(output)
  output.flushSync = () => {
    if (!isFailing) flush()
  }
  return output
}
