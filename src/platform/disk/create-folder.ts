import { mkdirSync, statSync } from 'node:fs'
import path from 'node:path'

/**
 * Makes a folder for its owner alone, and those above it that are missing. Node's own `recursive`
 * never ends where a file system refuses a folder as if its parent were missing, as /proc does.
 */
export function createFolder(folder: string): void {
  if (isFolder(folder)) return
  const parent = path.dirname(folder)
  if (parent !== folder) createFolder(parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it since.
    if (!isFolder(folder)) throw error
  }
}

function isFolder(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false
}
