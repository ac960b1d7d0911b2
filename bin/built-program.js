// Any Node.js that starts bin/terse.js must be able to parse this file.
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Returns the address of the built program, or undefined if there is no build of the present sources: each must
 * still have the modification time and size that it had when it was built.
 *
 * @param {string} root the folder of the repository or package
 * @returns {string | undefined}
 */
export function findBuiltProgram(root) {
  const main = read(path.join(root, 'build/current.json'))
  if (main === undefined) return undefined
  const { folder, sources } = main
  const isCurrent = Object.entries(sources).every(([name, [modifiedMs, bytes]]) => {
    const found = statSync(path.join(root, name), { throwIfNoEntry: false })
    return found !== undefined && found.mtimeMs === modifiedMs && found.size === bytes
  })
  const file = path.join(root, 'build', folder, 'main.js')
  return isCurrent && statSync(file, { throwIfNoEntry: false })
    ? pathToFileURL(file).href
    : undefined
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
