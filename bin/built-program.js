// Any Node.js that starts bin/terse.js must be able to parse this file.
import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Returns the address of the built program, or undefined if there is no intact build of the present sources: each of
 * them must still have the modification time and size that it had when it was built, and each built file its own.
 *
 * @param {string} root the folder of the repository or package
 * @param {(fault: string) => void} onFault called with what is wrong with the build, unless only the sources have changed
 * @returns {string | undefined}
 */
export function findBuiltProgram(root, onFault = () => {}) {
  const build = path.join(root, 'build')
  const current = path.join(build, 'current.json')
  if (!existsSync(current)) {
    onFault('it is missing')
    return undefined
  }
  const main = read(current)
  if (main === undefined) {
    onFault('current.json is damaged')
    return undefined
  }
  // The list of an older release does not have the files.
  if (main.files === undefined || findChanged(root, main.sources) !== undefined) return undefined
  const folder = path.join(build, main.folder)
  const damaged = findChanged(folder, main.files)
  if (damaged === undefined) return pathToFileURL(path.join(folder, 'main.js')).href
  onFault(`${main.folder}/${damaged} is damaged or missing`)
  return undefined
}

/** Returns the first file that has another modification time or size than in the list, or is missing. */
function findChanged(folder, files) {
  const found = Object.entries(files).find(([name, [modifiedMs, bytes]]) => {
    const stats = statSync(path.join(folder, name), { throwIfNoEntry: false })
    return stats?.size !== bytes || (modifiedMs !== null && stats.mtimeMs !== modifiedMs)
  })
  return found?.[0]
}

function read(file) {
  try {
    const main = JSON.parse(readFileSync(file, 'utf8'))
    return main.folder && main.sources ? main : undefined
  } catch {
    return undefined
  }
}
