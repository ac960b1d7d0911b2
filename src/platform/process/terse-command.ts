import { existsSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** A release that brings its own Node.js has a shell script in front of the program. */
const PROGRAMS = ['../../../bin/terse', '../../../bin/terse.js']
const NAME = 'terse'
const LOCAL_PROGRAMS = path.join('node_modules', '.bin')

/**
 * Holds the shell words of the options that every command has. It is in the environment because worker
 * processes and threads inherit that, and print commands too.
 */
const GIVEN_OPTIONS = '_TERSE_GIVEN_OPTIONS'

let command: string | undefined

/**
 * Returns a command of this program that works when typed in the folder where the program was started: with
 * the options of `setGivenOptions`, so that it is about the same instance. Without arguments, returns the
 * words that start the program.
 */
export function terseCommand(args: string): string {
  command ??= findTerseCommand({
    program: ownProgram(),
    folder: workingFolder(),
    PATH: process.env.PATH,
  })
  if (args === '') return command
  return [command, args, process.env[GIVEN_OPTIONS]].filter(Boolean).join(' ')
}

function ownProgram(): string {
  const files = PROGRAMS.map((name) => fileURLToPath(new URL(name, import.meta.url)))
  return files.find((file) => existsSync(file)) ?? ''
}

/** Sets the options, such as `--data-dir`, that printed commands of this process and its workers carry. */
export function setGivenOptions(options: ReadonlyMap<string, string>): void {
  const given = [...options].map(([name, value]) => `${name} ${shellWord(value)}`)
  process.env[GIVEN_OPTIONS] = given.join(' ')
}

/** Quotes a text for a POSIX shell where the shell would read it as something else. */
export function shellWord(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/**
 * Returns how to start the program: `terse` if it is on the PATH, `npx terse` in a checkout or in a project
 * that depends on it, otherwise the path of its file.
 *
 * @param place.program the program's own file
 * @param place.folder the folder where the command will be typed
 */
export function findTerseCommand(place: {
  readonly program: string
  readonly folder: string | undefined
  readonly PATH: string | undefined
}): string {
  const { program, folder, PATH = '' } = place
  const isProgram = (file: string) => existsSync(file) && realpathSync(file) === program
  // npm prepends its folders of local programs to the PATH, but only for its child processes.
  const installed = PATH.split(path.delimiter).filter(
    (each) => each !== '' && !each.endsWith(LOCAL_PROGRAMS),
  )
  if (installed.some((each) => isProgram(path.join(each, NAME)))) return NAME
  const project = folder === undefined ? undefined : projectOf(folder)
  if (project !== undefined) {
    const isCheckout = project === path.dirname(path.dirname(program))
    if (isCheckout || isProgram(path.join(project, LOCAL_PROGRAMS, NAME))) return `npx ${NAME}`
  }
  return program
}

/** Returns the folder whose programs npx runs: the nearest one with package.json or node_modules. */
function projectOf(folder: string): string | undefined {
  if (['package.json', 'node_modules'].some((name) => existsSync(path.join(folder, name)))) {
    return folder
  }
  const parent = path.dirname(folder)
  return parent === folder ? undefined : projectOf(parent)
}

/** Undefined if the folder was removed. */
function workingFolder(): string | undefined {
  try {
    return process.cwd()
  } catch {
    return undefined
  }
}
