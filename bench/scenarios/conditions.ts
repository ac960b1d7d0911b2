/** As many links as a busy site has in use. */
export const LINKS = 100_000
export const MANY_LINKS = 10_000_000
export const CONNECTIONS = 64
