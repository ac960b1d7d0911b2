import { userInfo } from 'node:os'

/** Who this process runs as. A container may give it a number that has no name. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `with the number ${process.getuid?.()}`
  }
}
