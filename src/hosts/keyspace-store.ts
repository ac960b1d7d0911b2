/**
 * A keyspace is the set of links among which a key is unique: one for each host that a workspace has
 * ever claimed, and one for the service's own host, which all workspaces share. It outlives the
 * claim, so that links stay when a domain is deleted and work again when it comes back.
 */
export type KeyspaceStore = {
  find(workspaceId: string, host: string): Promise<number | undefined>
  /** Makes it where there is none. */
  open(workspaceId: string, host: string): Promise<number>
  /**
   * Moves a keyspace, and with it its links, to another host.
   *
   * @throws {UniqueViolation} when the workspace has one there already
   */
  rename(workspaceId: string, from: string, to: string): Promise<void>
  /** Removes a keyspace without links; leaves one with links alone. */
  deleteIfEmpty(workspaceId: string, host: string): Promise<void>
  /** The shared keyspace, made where there is none, moved to `host` where it is on another. */
  openShared(host: string): Promise<{ readonly id: number; readonly movedFrom: string | undefined }>
}
