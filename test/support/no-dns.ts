/** A DNS server that is not there: tests that are not about DNS ask nobody, and get no answer at once. */
export const NO_DNS = '127.0.0.1:9'
