import type { Logger } from 'pino'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import type { Environment } from '../config/read-config.ts'
import { createLogger } from './logger.ts'

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
