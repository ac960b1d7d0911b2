/** One page of a list, and the length of the whole list. */
export type Page<T> = { readonly items: readonly T[]; readonly total: number }

/**
 * Consecutive items of a list. `M` is a position in the list's order; it stays valid when the item
 * there is deleted.
 */
export type Run<T, M> = {
  readonly items: readonly T[]
  /** The position after which the list continues; undefined at the end of the list. */
  readonly rest: M | undefined
}
