import { readFileSync } from 'node:fs'

const LIMIT = /^Max open files +(\d+)/m

/**
 * Returns how many files and sockets this process may have open; undefined where the system sets no limit or does
 * not say. Node.js raises the limit, when it starts, to the most that the system allows.
 */
export function openFilesMax(): number | undefined {
  try {
    const soft = LIMIT.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}
