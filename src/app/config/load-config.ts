import path from 'node:path'
import { type Config, ConfigError, type Environment, readConfig } from './read-config.ts'
import { VARIABLES } from './settings.ts'
import { placeOf, readSettingsFile, type SettingsFile } from './settings-file.ts'

/** A configuration and its sources. */
export type LoadedConfig = {
  readonly config: Config
  /** An environment from which `readConfig` reads the same configuration: for worker processes. */
  readonly env: Environment
  /** The settings file, when every user of the machine can read a secret in it; else undefined. */
  readonly exposedFile: string | undefined
}

/**
 * Reads the configuration from the environment, and from the settings file what the environment does not set.
 *
 * @throws {ConfigError} as `readConfig` does, and for faults of the settings file
 */
export function loadConfig(env: Environment = process.env): LoadedConfig {
  const settings = readSettingsFile(env)
  if (settings === undefined) return { config: readConfig(env), env, exposedFile: undefined }
  const { file, isExposed } = settings
  const merged = merge(env, settings)
  const faults = [...settings.faults]
  try {
    const config = readConfig(merged)
    if (faults.length === 0) {
      return { config, env: merged, exposedFile: isExposed ? file : undefined }
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    faults.push(...error.faults.map((fault) => withPlace(fault, merged, env, settings)))
  }
  throw new ConfigError(faults)
}

/** Adds the settings of the file to the environment, which overrides them. An empty variable counts as unset. */
function merge(env: Environment, { file, values }: SettingsFile): Environment {
  const merged: Record<string, string | undefined> = { ...env, TERSE_ENV_FILE: file }
  for (const [name, value] of values) {
    const { names = [], isPath = false } = VARIABLES.get(name) ?? {}
    if (value === '' || names.some((each) => env[each])) continue
    // A place for backups is a folder or the address of a bucket.
    merged[name] =
      isPath && !value.includes('://') ? path.resolve(path.dirname(file), value) : value
  }
  return merged
}

/** Appends file and line to a fault, when the setting that it begins with comes from the file. */
function withPlace(
  fault: string,
  merged: Environment,
  env: Environment,
  { file, lines }: SettingsFile,
): string {
  const [name = ''] = /^TERSE_\w+/.exec(fault) ?? []
  if (merged[name] === env[name]) return fault
  return `${fault} (${placeOf(file, lines.get(name))})`
}
