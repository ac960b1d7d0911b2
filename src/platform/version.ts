import { hash } from 'node:crypto'
import { Failure } from './failure.ts'

/** 16 characters of base64url: 96 bits of a SHA-256. */
const VERSION_LENGTH = 16

/** The versions of which a write accepts any; undefined when it accepts every one. */
export type ExpectedVersions = readonly string[] | undefined

/** Returns a short identifier of a state: a hash of the values that change with it. */
export function versionOf(...parts: readonly (string | number | null)[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, VERSION_LENGTH)
}

/**
 * Call it in the writing transaction, with the version that the transaction has read: of several writers
 * that expect the same version, only the first succeeds.
 *
 * @throws {Failure} `precondition_failed`
 */
export function requireVersion(expected: ExpectedVersions, current: string): void {
  if (expected !== undefined && !expected.includes(current)) throw Failure.preconditionFailed()
}
