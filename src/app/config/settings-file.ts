import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import { userName } from '../../platform/process/user-name.ts'
import { ConfigError, type Environment, isUnknown } from './read-config.ts'
import { SETTINGS, VARIABLES } from './settings.ts'

const NAME = 'terse.env'
const FILE_VARIABLE = 'TERSE_ENV_FILE'
const FOLDER_VARIABLE = 'TERSE_DATA_DIR'
const READABLE_BY_OTHERS = 0o004
const ENTERED_BY_OTHERS = 0o001

/** The content of a settings file. */
export type SettingsFile = {
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
export function readSettingsFile(env: Environment): SettingsFile | undefined {
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
export function placeOf(file: string, line: number | undefined): string {
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
