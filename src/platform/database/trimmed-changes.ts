/**
 * The row of `instance` that holds the position up to which the change log has been trimmed, in
 * each engine's own form. A reader whose cursor is before it has missed changes.
 */
export const TRIMMED = 'changes_trimmed'

/** The maximum number of log rows deleted at once. */
export const TRIM_ROWS_MAX = 1_000
