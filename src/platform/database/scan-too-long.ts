/**
 * The time that all turns of one search or chart may take together. Waiting for turns does not
 * count.
 */
export const SCAN_MS_MAX = 10_000

/** Thrown by the store when a search or chart exceeds its reading time. */
export class ScanTooLong extends Error {
  override readonly name = 'ScanTooLong'
}
