/** An authority that is not there: tests that are not about certificates ask nobody for any. */
export const NO_ACME = 'https://127.0.0.1:9/directory'
