import { createHash } from 'node:crypto'
import { Failure } from './failure.ts'

/** Of base64url: 96 bits of a SHA-256. */
const VERSION_LENGTH = 16

/** Versions of which one must be the current one for a write to be done; undefined where any may be. */
export type ExpectedVersions = readonly string[] | undefined

/** A short name for the state of something, made of what changes with it. */
export function versionOf(...parts: readonly (string | number | null)[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
  return hash.slice(0, VERSION_LENGTH)
}

/**
 * To be called in the unit that writes, with what the unit has read: then of several writers that expect
 * the same version one wins.
 *
 * @throws {Failure} `precondition_failed`
 */
export function requireVersion(expected: ExpectedVersions, current: string): void {
  if (expected !== undefined && !expected.includes(current)) throw Failure.preconditionFailed()
}
