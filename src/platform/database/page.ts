/** One page of a list, and how long the whole list is. */
export type Page<T> = { readonly items: readonly T[]; readonly total: number }

/**
 * Consecutive items of a list. `M` marks a place in the list's order, whether or not an item is still
 * there.
 */
export type Run<T, M> = {
  readonly items: readonly T[]
  /** Where the rest of the list begins; undefined when there is no more. */
  readonly rest: M | undefined
}
