/** An unreachable authority: tests that are not about certificates order none. */
export const NO_ACME = 'https://127.0.0.1:9/directory'
