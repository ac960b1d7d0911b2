/** How long one search or chart may read, its turns added up. Waiting for turns does not count. */
export const SCAN_MS_MAX = 10_000

/** Thrown by the store when a search or chart has read for longer than it may. */
export class ScanTooLong extends Error {
  override readonly name = 'ScanTooLong'
}
