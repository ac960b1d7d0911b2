import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import { userName } from '../../platform/process/user-name.ts'
import { type Config, ConfigError, type Environment, isUnknown, readConfig } from './config.ts'
import { SETTINGS, VARIABLES } from './settings.ts'

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

const NAME = 'terse.env'
const FILE_VARIABLE = 'TERSE_ENV_FILE'
const FOLDER_VARIABLE = 'TERSE_DATA_DIR'
const READABLE_BY_OTHERS = 0o004
const ENTERED_BY_OTHERS = 0o001

/** The content of a settings file. */
type SettingsFile = {
  readonly file: string
  /** Values by the names of their variables, each of which is a setting. */
  readonly values: ReadonlyMap<string, string>
  /** Counted from 1, of each setting in `values`. */
  readonly lines: ReadonlyMap<string, number>
  /** Whether every user of the machine can read a secret in it. */
  readonly isExposed: boolean
  /** Faults of the file, a line each, in the order of the file. */
  readonly faults: readonly string[]
}

/**
 * Reads the settings file that the environment names, or else the one in the data folder.
 *
 * @returns undefined when none is named and the data folder has none
 * @throws {ConfigError} when it cannot be read
 */
function readSettingsFile(env: Environment): SettingsFile | undefined {
  const named = env[FILE_VARIABLE] || undefined
  const folder = env[FOLDER_VARIABLE] || SETTINGS.TERSE_DATA_DIR.default
  const file = path.resolve(named ?? path.join(String(folder), NAME))
  const found = readFile(file, named !== undefined)
  if (found === undefined) return undefined
  const { text, isReadable } = found
  const written = Object.entries(parseEnv(text)).map(
    ([name, value]) => [name, value ?? ''] as const,
  )
  const values = new Map(written.filter(([name]) => name.startsWith('TERSE_')))
  const lines = linesOf(text)
  const faults = [...lines]
    .filter(([name]) => !values.has(name))
    .map(([name, line]) => `${name} has no value in ${file}, line ${line}: write ${name}=value`)
  const lineOf = (name: string) => lines.get(name) ?? 0
  for (const name of [...values.keys()].sort((a, b) => lineOf(a) - lineOf(b))) {
    const fault = faultOfName(name, named === undefined)
    if (fault === undefined) continue
    faults.push(`${name} in ${placeOf(file, lines.get(name))} ${fault}`)
    values.delete(name)
  }
  const holdsSecret = [...values].some(
    ([name, value]) => value !== '' && VARIABLES.get(name)?.isSecret,
  )
  return { file, values, lines, isExposed: holdsSecret && isReadable, faults }
}

/** Returns what the text of a settings file sets, in its order, for people: without the values of secrets. */
export function describeSettings(
  text: string,
): readonly { readonly name: string; readonly value: string | undefined }[] {
  return Object.entries(parseEnv(text)).map(([name, value]) => {
    const isShown = VARIABLES.get(name)?.isSecret === false
    return { name, value: isShown ? value : undefined }
  })
}

/** Formats a file and a line of it for messages. */
function placeOf(file: string, line: number | undefined): string {
  return line === undefined ? file : `${file}, line ${line}`
}

function faultOfName(name: string, isInDataFolder: boolean): string | undefined {
  if (isUnknown(name)) return 'is not a setting: correct or remove it'
  if (name === FILE_VARIABLE) return 'names another file: a settings file cannot do that'
  if (name === FOLDER_VARIABLE && isInDataFolder) {
    return 'would name the folder in which this file is found: set it in the environment, or keep the file elsewhere and name it with --env-file'
  }
  return undefined
}

/** Reads a file, and whether every user can read it. Returns undefined when an unnamed file is missing. */
function readFile(
  file: string,
  isNamed: boolean,
): { text: string; isReadable: boolean } | undefined {
  try {
    // Without the byte order mark that some editors write.
    const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
    const isReadable =
      (statSync(file).mode & READABLE_BY_OTHERS) !== 0 &&
      (statSync(path.dirname(file)).mode & ENTERED_BY_OTHERS) !== 0
    return { text, isReadable }
  } catch (error) {
    const isAbsent = hasErrorCode(error, 'ENOENT') || hasErrorCode(error, 'ENOTDIR')
    if (isAbsent && !isNamed) return undefined
    const code = error instanceof Error && 'code' in error ? error.code : 'unreadable'
    throw new ConfigError([
      isNamed
        ? `The settings file ${file} cannot be read (${code}). Correct --env-file or TERSE_ENV_FILE.`
        : `The user ${userName()} cannot look into the data folder for ${file} (${code}). Run this as its owner, or name another folder with --data-dir or TERSE_DATA_DIR.`,
    ])
  }
}

/** Returns the line of each variable whose name begins as a setting's does; of several, the last. */
function linesOf(text: string): Map<string, number> {
  const lines = new Map<string, number>()
  for (const [index, line] of text.split('\n').entries()) {
    const [, name] = /^\s*(?:export\s+)?(TERSE_\w+)/.exec(line) ?? []
    if (name !== undefined) lines.set(name, index + 1)
  }
  return lines
}
