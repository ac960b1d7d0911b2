/**
 * Under which name `instance` keeps how far the change log has been trimmed, in each engine's own
 * form: a reader that has not come so far has missed something.
 */
export const TRIMMED = 'changes_trimmed'

/** Rows of the log that are deleted at once. */
export const TRIM_ROWS_MAX = 1_000
