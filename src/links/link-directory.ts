import type { LinkAttributes } from './link.ts'

/** What a redirect must know of a host. */
export type LinkHost = {
  readonly keyspaceId: number
  readonly notFoundUrl: string | null
  readonly expiredUrl: string | null
  /** For how many seconds browsers are asked to use HTTPS alone; null where they are not. */
  readonly hstsMaxAge: number | null
}

/** What a redirect must know of a link. */
export type VisitedLink = Omit<LinkAttributes, 'external_id' | 'tags'> & {
  readonly seq: number
  readonly id: string
  readonly workspace_id: string
  readonly key: string
}

/** How redirects find links. Read at every cache miss, so each is one look-up in one index, of two rows at most. */
export type LinkDirectory = {
  /** Undefined for a host that no workspace has proved. */
  findActiveHost(host: string): Promise<LinkHost | undefined>
  /**
   * Two at most of the links whose keys are the same but for letter case: enough to tell whether there
   * is none, one, or several.
   */
  findByFoldedKey(keyspaceId: number, foldedKey: string): Promise<readonly VisitedLink[]>
  /** The link of exactly this key. */
  findByKey(keyspaceId: number, key: string): Promise<VisitedLink | undefined>
}
