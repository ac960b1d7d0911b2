/** An unreachable DNS server: tests that are not about DNS get no answer, at once. */
export const NO_DNS = '127.0.0.1:9'
