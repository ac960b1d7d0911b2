/** As many links as a busy site uses at a time. */
export const LINKS = Number(process.env.BENCH_LINKS ?? 100_000)
export const MANY_LINKS = 10_000_000
export const CONNECTIONS = 64
