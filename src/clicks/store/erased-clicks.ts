/** What is removed of the clicks: counters, charts and raw rows. */
export type ErasedClicks =
  | { readonly kind: 'links'; readonly linkSeqs: readonly number[] }
  /** All of a workspace whose links are deleted. */
  | { readonly kind: 'workspace'; readonly workspaceId: string }
