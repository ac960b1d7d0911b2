import { userInfo } from 'node:os'

/** The user name of this process, or its number: in a container the user may have no name. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `with the number ${process.getuid?.()}`
  }
}
