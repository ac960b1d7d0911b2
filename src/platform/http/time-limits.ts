/** A client that has not sent its head, or its whole request, by then is cut off. */
export const HEADERS_TIMEOUT_MS = 10_000
export const REQUEST_TIMEOUT_MS = 20_000
/**
 * A connection, or in HTTP/2 a request, on which no byte moves for so long is cut off, because nobody
 * reads the answer; after twice as long where Node takes the first bytes of the answer for progress.
 */
export const STANDSTILL_TIMEOUT_MS = 20_000
/** For how long a connection may be idle. */
export const KEEP_ALIVE_TIMEOUT_MS = 65_000
