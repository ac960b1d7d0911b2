import { mkdirSync, statSync } from 'node:fs'
import path from 'node:path'

/**
 * Creates a folder that only its owner can access, and its missing parents. Node's own `recursive` option
 * never returns on file systems that refuse a folder with ENOENT, as /proc does.
 */
export function createFolder(folder: string): void {
  if (isFolder(folder)) return
  const parent = path.dirname(folder)
  if (parent !== folder) createFolder(parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!isFolder(folder)) throw error
  }
}

function isFolder(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false
}
