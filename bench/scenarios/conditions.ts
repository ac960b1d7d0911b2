/** As many links as a busy site uses at a time. */
export const LINKS = 100_000
export const MANY_LINKS = 10_000_000
export const CONNECTIONS = 64
