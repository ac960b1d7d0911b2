/**
 * Node's HTTP module. An `import` reads every export, which loads Node's WebSocket client too and takes a
 * tenth of the start-up time.
 */
export const http = process.getBuiltinModule('node:http')

/** A client that has not sent its headers, or its whole request, by then is disconnected. */
export const HEADERS_TIMEOUT_MS = 10_000
export const REQUEST_TIMEOUT_MS = 20_000
/**
 * A connection, or an HTTP/2 request, without a byte sent or received for this long is closed, because its
 * client does not read the answer; after twice as long when Node counts the answer's first bytes as
 * progress.
 */
export const STANDSTILL_TIMEOUT_MS = 20_000
/** How long a connection may be idle. */
export const KEEP_ALIVE_TIMEOUT_MS = 65_000
