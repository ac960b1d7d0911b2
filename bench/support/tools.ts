import { accessSync, constants } from 'node:fs'
import path from 'node:path'

/** Where systems keep servers that a plain user's PATH leaves out. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/local/sbin']

/** The path of a program that is installed; undefined where it is not. */
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
