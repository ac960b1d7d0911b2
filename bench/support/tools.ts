import { accessSync, constants } from 'node:fs'
import path from 'node:path'

/** Where systems install servers that are not on an ordinary user's PATH. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/local/sbin']

/** Returns the path of an installed program, or undefined. */
export function findTool(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(path.delimiter).concat(SYSTEM_FOLDERS)
  return folders.map((folder) => path.join(folder, name)).find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
