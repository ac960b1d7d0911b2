import { Failure } from '../../platform/failure.ts'
import { failureText } from '../../platform/failure-text.ts'
import { userName } from '../../platform/process/user-name.ts'
import { ConfigError } from '../config/config.ts'

/** Formats an error in one line, with what to do about it where that is known. */
export function explainError(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (error instanceof Failure) {
    const cause =
      error.cause instanceof Error ? ` (${error.cause.message || error.cause.name})` : ''
    return failureText(error) + cause
  }
  if (!(error instanceof Error)) return String(error)
  return fileFault(error) ?? error.message
}

/** Formats the operating system's error about a file; undefined for other errors. */
function fileFault(error: Error & { code?: unknown; path?: unknown }): string | undefined {
  const { code, path } = error
  if (typeof path !== 'string') return undefined
  if (code === 'EACCES' || code === 'EPERM') {
    return `The user ${userName()} cannot use ${path} (${code}). Give it to that user, or run this as its owner.`
  }
  if (code === 'EROFS') return `${path} is on a read-only file system. Make that writable.`
  if (code === 'ENOSPC') return `The disk is full: nothing can be written to ${path}. Make room.`
  return undefined
}
