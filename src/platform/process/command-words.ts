import { existsSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../../bin/terse.js', import.meta.url))
const NAME = 'terse'
const LOCAL_PROGRAMS = path.join('node_modules', '.bin')

let words: string | undefined

/** A command of this program as a person can type it where the program was started. */
export function terseCommand(args: string): string {
  words ??= findCommandWords({ program: PROGRAM, folder: workingFolder(), PATH: process.env.PATH })
  return args === '' ? words : `${words} ${args}`
}

/**
 * The words that start the program: `terse` where a shell finds it, `npx terse` in a checkout or a project that
 * has it, else its file.
 *
 * @param place.program the program's own file
 * @param place.folder the folder in which a person types
 */
export function findCommandWords(place: {
  readonly program: string
  readonly folder: string | undefined
  readonly PATH: string | undefined
}): string {
  const { program, folder, PATH = '' } = place
  const isProgram = (file: string) => existsSync(file) && realpathSync(file) === program
  // npm puts the folders of local programs before the others, for its own children alone.
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

/** The folder whose programs npx runs: the nearest one with a package or with packages. */
function projectOf(folder: string): string | undefined {
  if (['package.json', 'node_modules'].some((name) => existsSync(path.join(folder, name)))) {
    return folder
  }
  const parent = path.dirname(folder)
  return parent === folder ? undefined : projectOf(parent)
}

/** Undefined where it was removed. */
function workingFolder(): string | undefined {
  try {
    return process.cwd()
  } catch {
    return undefined
  }
}
